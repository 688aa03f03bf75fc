// Jobs that an app offers for people to start, `public_jobs`.

export type Parameter = {
  key: string
  title: string
  type: 'string' | 'boolean' | 'number' | 'json' | 'date' | 'daterange'
  isRequired: boolean
  default: unknown
}
export type Job = { name: string; parameters: readonly Parameter[] }

const TYPES = ['boolean', 'number', 'json', 'date', 'daterange'] as const
const entriesOf = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? (Object.entries(value) as [string, Record<string, unknown> | null][])
    : []

export function readJobs(public_jobs: unknown): Job[] {
  return entriesOf(public_jobs).map(([name, job]) => ({
    name,
    parameters: entriesOf(job?.payload)
      .filter(([, parameter]) => !parameter?.staff_only)
      .map(([key, parameter]) => ({
        key,
        title: typeof parameter?.title === 'string' ? parameter.title : key,
        type: TYPES.find((type) => type === parameter?.type) ?? 'string',
        isRequired: Boolean(parameter?.required),
        default: parameter?.default,
      })),
  }))
}

/** Texts of a form as the job takes them; what is left empty is left out. Throws SyntaxError for JSON that is none. */
export function payloadOf(
  { parameters }: Job,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    parameters.flatMap(({ key, type }) => {
      const text = texts[key] ?? ''
      if (text === '') return []
      return [[key, valueOf(type, text)]]
    }),
  )
}

function valueOf(type: Parameter['type'], text: string): unknown {
  switch (type) {
    case 'boolean':
      return text === 'true'
    case 'number':
      return Number(text)
    case 'json':
      return JSON.parse(text)
    case 'daterange':
      return text.split('/')
    case 'date':
    case 'string':
      return text
  }
}
