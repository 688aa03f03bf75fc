// Levels of members, as the API counts them.

export const LEVELS = { member: 1, admin: 8, owner: 15 } as const
export type Level = keyof typeof LEVELS
