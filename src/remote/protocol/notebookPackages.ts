/** What the Python of a job needs to run a notebook. */
export const NOTEBOOK_PACKAGES = ['nbclient', 'ipykernel'] as const;

/** The remedy that a job prints which runs a notebook without them. Clients look for it in the output, to offer the packages. */
export const NOTEBOOK_REMEDY = `Add ${NOTEBOOK_PACKAGES.join(' and ')} to the packages of the job, then submit again.`;
