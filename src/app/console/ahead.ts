// What the browser fetches along with the page instead of after it: the program, the parts that draw the page of this
// address, and what that page asks of the API (the loaders of web/src/*/routes.tsx). Found out one after another, these
// would take turns.
import type { ConsoleFiles } from './files.ts'

type Ahead = {
  /** As web/ names it. */
  part: string
  /** Below the project. It has to be the very address that the page asks, or it is fetched twice. */
  asks: string
  /** Its filters are part of what it asks, so only the page without any is known here. */
  isFiltered?: boolean
}

const STATUS = 'batch_exports/status/?recent_runs=24'
const LISTS: ReadonlyMap<string, Ahead> = new Map([
  ['overview', { part: 'src/overview/OverviewPage.tsx', asks: STATUS }],
  ['events', { part: 'src/events/EventsPage.tsx', asks: 'events/?limit=100', isFiltered: true }],
  ['persons', { part: 'src/persons/PersonsPage.tsx', asks: 'persons/?limit=100&offset=0', isFiltered: true }],
  ['exports', { part: 'src/batch-exports/ExportsPage.tsx', asks: STATUS }],
])

/** The `Link` header of a page for somebody who may have a session. */
export function linksAhead(url: string, { partsOf }: Pick<ConsoleFiles, 'partsOf'>): string {
  const [path, query] = url.split('?', 2)
  const [, project, page] = /^\/project\/(\d+)(?:\/(.*))?$/.exec(path!) ?? []
  const list = LISTS.get(page ?? '')
  const answers = ['/api/users/%40me/']
  if (project !== undefined) answers.push(`/api/projects/${project}/`)
  if (list && !(list.isFiltered && query !== undefined)) answers.push(`/api/projects/${project}/${list.asks}`)
  // Answers take longest, and a browser asks for six things at a time.
  return [
    ...answers.map((path) => `<${path}>; rel=preload; as=fetch; crossorigin`),
    ...(list ? partsOf(list.part) : []).map((path) =>
      path.endsWith('.css')
        ? `<${path}>; rel=preload; as=style; crossorigin`
        : `<${path}>; rel=modulepreload`,
    ),
  ].join(', ')
}
