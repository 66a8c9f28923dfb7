/** The argument before the name of a module that could not be loaded on a node, so that the job cannot start. */
export const WITHOUT_MODULE = '--without-module';
