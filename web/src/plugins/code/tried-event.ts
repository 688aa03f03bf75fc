// The event that an app is tried on, kept in the browser while its tab is open.

const keyOf = (configId: number) => `draft:event of app ${configId}`

export const keptTriedEvent = (configId: number): string | null => sessionStorage.getItem(keyOf(configId))

export const keepTriedEvent = (configId: number, text: string): void =>
  sessionStorage.setItem(keyOf(configId), text)
