export function copyBrowserLibrary(folder: string): Promise<void>
