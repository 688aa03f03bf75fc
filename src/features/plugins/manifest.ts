// plugin.json: what an app says of itself.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { assertHarmless, parseJsonText } from '../../platform/http/body.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { assertConfigSchema } from './config-schema.ts'

export type Manifest = {
  name: string
  description: string | null
  icon: string | null
  /** The manifest's `config`: a list of fields or, of old, an object of them. */
  config_schema: unknown
  public_jobs: JsonObject
  /** The file with the code, where it is not the usual one. */
  main: string | null
}

/** The message is a sentence for the author of the file. */
export class ManifestFault extends Error {}

const MAX_NAME = 200
const MAX_ICON = 800

/** An app that is installed must have a name. */
export function readManifest(text: string): Manifest {
  const given = readManifestFields(text)
  if (given.name === undefined) throw new ManifestFault('plugin.json has no name.')
  return {
    name: given.name,
    description: given.description ?? null,
    icon: given.icon ?? null,
    config_schema: given.config_schema ?? {},
    public_jobs: given.public_jobs ?? {},
    main: given.main ?? null,
  }
}

/** Only what the file mentions: an app that is written here may leave the rest to its other fields. */
export function readManifestFields(text: string): Partial<Manifest> {
  const json = parseManifest(text)
  const fields: Partial<Manifest> = {}
  if (isGiven(json.name)) fields.name = readText(json.name, 'name', MAX_NAME)
  if (isGiven(json.description)) fields.description = readText(json.description, 'description')
  if (isGiven(json.icon)) fields.icon = readText(json.icon, 'icon', MAX_ICON)
  if (isGiven(json.main)) fields.main = readText(json.main, 'main')
  if (isGiven(json.config)) fields.config_schema = readConfig(json.config)
  if (isGiven(json.publicJobs)) fields.public_jobs = readPublicJobs(json.publicJobs)
  if (json.stateless === true && isGiven(json.config) && Object.keys(json.config as object).length > 0) {
    throw new ManifestFault('plugin.json says that the app is stateless and yet has a config.')
  }
  return fields
}

export function parseManifest(text: string): JsonObject {
  const json = told(() => parse(text), 'plugin.json')
  if (!isObject(json)) throw new ManifestFault('plugin.json is not a JSON object.')
  told(() => assertHarmless(json, []), 'plugin.json')
  return json
}

function parse(text: string): unknown {
  try {
    // Editors on Windows put a mark in front, which JSON does not know.
    return parseJsonText(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw error instanceof SyntaxError ? new ManifestFault('plugin.json is not readable JSON.') : error
  }
}

const isGiven = (value: unknown) => value !== undefined && value !== null

function readText(value: unknown, field: string, max = Infinity): string {
  if (typeof value !== 'string') throw new ManifestFault(`${field} in plugin.json is not a text.`)
  const trimmed = value.trim()
  if (field === 'name' && trimmed === '') throw new ManifestFault('plugin.json has no name.')
  if (Array.from(trimmed.slice(0, 2 * MAX_ICON + 1)).length > max) {
    throw new ManifestFault(`${field} in plugin.json has more than ${max} characters.`)
  }
  return trimmed
}

function readConfig(config: unknown): unknown {
  told(() => assertConfigSchema(config), 'config in plugin.json')
  return config
}

function readPublicJobs(jobs: unknown): JsonObject {
  if (!isObject(jobs)) throw new ManifestFault('publicJobs in plugin.json is not an object.')
  return jobs
}

/** What is refused in a request is refused here, with the place named. */
function told<Result>(check: () => Result, place: string): Result {
  try {
    return check()
  } catch (error) {
    if (error instanceof ApiError) throw new ManifestFault(`${place}: ${error.detail}`)
    throw error
  }
}
