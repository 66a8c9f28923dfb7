/** The description of `--data` of the commands for whoever runs a service. */
export const DATA = "the service's data folder (default: 'serve' in FARWHARF_HOME)";
