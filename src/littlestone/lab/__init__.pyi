"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.lab.class_floors import mistakes_floor as mistakes_floor
from littlestone.lab.private_teachers.plan import TeachersPlan as TeachersPlan
from littlestone.lab.private_teachers.recipe import PrivateTeachers as PrivateTeachers

__all__: list[str]
