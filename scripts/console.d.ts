export function buildConsole(folder: string): Promise<string[]>
