// What client libraries ask for before they send anything: settings, apps for web pages and feature flags. There are no
// flags here, but without an answer the libraries keep asking and fill the console of every page with errors.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Services } from '../../../platform/services.ts'
import { isObject } from '../../../lib/json-object.ts'
import { originOf } from '../../../lib/network.ts'
import type { ProjectSettings } from '../../projects/schema.ts'
import { addCapturePath } from './capture-path.ts'
import { assertToken, tokenAmong } from './envelope.ts'
import type { Reader } from './reader.ts'
import { assertOuterToken, getProject, MAX_BODY, outerToken, parameter, readPacked } from './request.ts'

/** What a library may do with us: pack with gzip, capture what the project wants, and ask for nothing more. */
function settingsOf(project: ProjectSettings) {
  return {
    supportedCompression: ['gzip', 'gzip-js'],
    sessionRecording: false,
    capturePerformance: project.autocapture_web_vitals_opt_in === true && WEB_VITALS,
    autocapture_opt_out: false,
    autocaptureExceptions: project.autocapture_exceptions_opt_in === true,
    analytics: { endpoint: '/i/v0/e/' },
    elementsChainAsString: true,
    heatmaps: false,
  }
}

/** All four of them. */
const WEB_VITALS = { network_timing: false, web_vitals: true, web_vitals_allowed_metrics: null }

const FLAGS = {
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  featureFlags: {},
  featureFlagPayloads: {},
  flags: {},
  errorsWhileComputingFlags: false,
  surveys: false,
}

/** Code that a page loads, by an address below ours. */
type SiteApp = { id: number; url: string; type: 'site_app' }
export type SiteAppsOf = (project_id: number) => Promise<readonly SiteApp[]>

export function addFlags(
  app: FastifyInstance,
  services: Services,
  reader: Reader,
  siteAppsOf: SiteAppsOf = async () => [],
): void {
  for (const path of ['/decide', '/flags']) {
    addCapturePath(app, path, async (request) => {
      const project = await getProject(services.db, await readToken(services, reader, request))
      request.notes.project_id = project.id
      const siteApps = await siteAppsOf(project.id)
      const answer = { ...FLAGS, ...settingsOf(project), siteApps }
      // Libraries from before variants want the names of the flags that are on.
      return path === '/decide' && isFirstVersion(request) ? { ...answer, featureFlags: [] } : answer
    })
  }

  addCapturePath(app, '/array/:token/config', async (request) => remoteConfig(services, siteAppsOf, request))

  addCapturePath(app, '/array/:token/config.js', async (request, reply) => {
    const config = await remoteConfig(services, siteAppsOf, request)
    // The outer list is for apps that come within this script.
    const entry = JSON.stringify({ config, siteApps: [] })
    return reply
      .type('application/javascript; charset=utf-8')
      .send(
        `(window._POSTHOG_REMOTE_CONFIG = window._POSTHOG_REMOTE_CONFIG || {})[${JSON.stringify(config.token)}] = ${entry};\n`,
      )
  })
}

function isFirstVersion(request: FastifyRequest): boolean {
  return (parameter(request, 'v') ?? '1') === '1'
}

/** Nothing is said of surveys: told that there are none, posthog-js still fetches the script for them. */
async function remoteConfig(services: Services, siteAppsOf: SiteAppsOf, request: FastifyRequest) {
  const { token } = request.params as { token: string }
  const project = await getProject(services.db, assertToken(token))
  request.notes.project_id = project.id
  const siteApps = await siteAppsOf(project.id)
  return { token: project.api_token, captureDeadClicks: false, ...settingsOf(project), siteApps }
}

async function readToken(services: Services, reader: Reader, request: FastifyRequest): Promise<string> {
  if (request.method === 'GET' && parameter(request, 'data') === undefined)
    return assertToken(outerToken(request))
  const beside = await assertOuterToken(services.db, outerToken(request))
  const packed = await readPacked(request, MAX_BODY)
  const { value, outer_token } = await reader.readSmall(packed, originOf(request.ip).address)
  return assertToken((isObject(value) ? tokenAmong(value) : undefined) ?? outer_token ?? beside)
}
