// Words of the activity log. Pure.

const DEEDS: Readonly<Record<string, string>> = {
  created: 'created it',
  updated: 'changed it',
  deleted: 'deleted it',
}

export const deedText = (activity: string): string => DEEDS[activity] ?? activity.replaceAll('_', ' ')

export function changeText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${changeText(part)}`)
    .join(', ')
}
