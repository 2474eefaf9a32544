"""The subcommands of `ztensor-sql`, one in each module. `command` of a module is what click runs."""
