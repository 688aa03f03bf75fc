export function copyApiDocument(folder: string): Promise<void>
