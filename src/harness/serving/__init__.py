"""What a team shares on one machine: the settings, the parts that are started, who watches them and the health page."""
