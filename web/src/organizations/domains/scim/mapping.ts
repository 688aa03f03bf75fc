// What members of a directory's group get, in words and as the API takes it.

export const NO_ACCESS = 'none'
export type Access = 'member' | 'admin' | typeof NO_ACCESS

type Mapped = { level: number | null; projects: readonly unknown[] }

export function mappingText({ level, projects }: Mapped): string {
  const said = [
    ...(level === null ? [] : [level >= 8 ? 'admin' : 'member']),
    ...(projects.length === 0 ? [] : [projects.length === 1 ? 'one project' : `${projects.length} projects`]),
  ]
  return said.length === 0 ? 'nothing yet' : said.join(', ')
}

/** The values of the form. `level` is empty when the group says nothing about it. */
export function mappingOf({
  level,
  projects,
}: {
  level: string
  projects: Readonly<Record<string, Access>>
}) {
  return {
    level: level === '' ? null : (Number(level) as 1 | 8),
    projects: Object.entries(projects).flatMap(([id, access]) =>
      access === NO_ACCESS ? [] : [{ id: Number(id), level: access }],
    ),
  }
}
