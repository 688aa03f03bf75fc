// Types of bundle.js, for the tests, which build the threads with it.
export function bundleThreads(folder: string): Promise<void>
