from retarget.profiles.files import Capability as Capability
from retarget.profiles.files import Profile as Profile
from retarget.profiles.requirements import parse_requirement as parse_requirement
