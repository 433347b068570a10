"""Config tables → configs: names, inheritance, references, and the devices of runtime configs."""
