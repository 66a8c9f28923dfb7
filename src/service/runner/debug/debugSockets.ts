// Where the processes of a job, its runner and its tunnel meet for debugging.

/** Names the folder with the sockets for the processes of a job. */
export const DEBUG_FOLDER_VARIABLE = 'FARWHARF_DEBUG';
/** Names the folder of the job. */
export const DEBUG_ROOT_VARIABLE = 'FARWHARF_DEBUG_ROOT';
/** Set if the job's first process waits at its start. */
export const DEBUG_WAIT_VARIABLE = 'FARWHARF_DEBUG_WAIT';
/** The socket on which the runner hears of failures. */
export const RUNNER_SOCKET = 'runner';
/** The name of the socket on which a process hears that its time limit has come: its ID. */
export const LIMIT_SOCKET = /^(\d{1,9})\.limit$/;
/** The name of the socket of a process: its ID and its language. */
export const PROCESS_SOCKET = /^(\d{1,9})\.(python|node)$/;
