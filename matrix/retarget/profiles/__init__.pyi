from retarget.profiles.files import Capability as Capability
from retarget.profiles.files import Profile as Profile
from retarget.profiles.files import known_names as known_names
from retarget.profiles.requirements import parse_requirement as parse_requirement
