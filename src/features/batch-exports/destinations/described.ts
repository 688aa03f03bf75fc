// What people read of a field of a configuration, beside its schema: forms are built from it.

/** Where a form asks for it: how the destination is reached, how rows are laid out there, or which rows go there. */
type FormPart = 'connection' | 'layout' | 'rows'

export type Described = { title: string; description: string; 'x-part': FormPart }

const inPart =
  (part: FormPart) =>
  (title: string, description: string): Described => ({ title, description, 'x-part': part })

export const connection = inPart('connection')
export const layout = inPart('layout')
export const rows = inPart('rows')

/** Names of databases, schemas and tables are one fact for all that have them. */
export const DATABASE = connection('Database', 'It must exist.')
export const SCHEMA = layout('Schema', 'It must exist.')
export const TABLE = layout('Table', 'The first run makes it if it does not exist.')

/** What a value of some fields asks of others: `faults` refuses what does not follow it. */
export type Condition = {
  /** Each field has one of these values. */
  when: Readonly<Record<string, readonly (string | null)[]>>
  /** Parts of JSON Schema by field. */
  holds: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Fields that must be given. */
  needs?: readonly string[]
}
