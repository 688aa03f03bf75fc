// The Helm chart, linted and rendered by helm and held against Kubernetes's schemas: `npm run test:helm`, or HELM and
// KUBERNETES_MODELS set. Its paths are compared with the code everywhere.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { Environment } from '../src/app/config.ts'
import { routes } from '../src/app/http.ts'
import { capturePaths, prefixesOf } from './harness/capture-paths.ts'

const CHART = join(import.meta.dirname, '../deploy/helm/longshore')
const read = (path: string) => readFileSync(join(CHART, path), 'utf8')
const { HELM, KUBERNETES_MODELS } = process.env
const ROLES = ['api', 'capture', 'plugins', 'worker']

// Rendered YAML has any shape; asserting on a field that is not there fails the test, which is the point.
// oxlint-disable-next-line typescript/no-explicit-any
type Manifest = any

const SECRETS = { DATABASE_URL: 'postgres://u:p@h/d', CLICKHOUSE_URL: 'http://c:8123/d', SECRET_KEY: 'k' }
const LEAST = { siteUrl: 'https://longshore.example', secret: { values: SECRETS } }
const ALL = {
  ...LEAST,
  ingress: {
    enabled: true,
    host: 'longshore.example',
    tlsSecret: 'tls',
    className: 'nginx',
    annotations: { a: 'b' },
  },
  networkPolicy: { enabled: true, from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
  roles: { capture: { autoscaling: { enabled: true } } },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  podAnnotations: { x: 'z' },
  imagePullSecrets: [{ name: 'registry' }],
  settings: { RATE_LIMITS: true, EXPORT_MAX_RUNS: 4 },
}

function helm(args: readonly string[], values: object) {
  const [command, ...before] = HELM!.split(' ')
  return spawnSync(command!, [...before, ...args, '-f', '-'], { encoding: 'utf8', input: stringify(values) })
}

function render(values: object): Manifest[] {
  const { stdout, stderr, status } = helm(['template', 'demo', CHART, '--kube-version', '1.30.0'], values)
  expect([status, stderr]).toEqual([0, ''])
  return parseAllDocuments(stdout)
    .map((document): Manifest => document.toJS())
    .filter((manifest) => manifest !== null)
}

const refusal = (values: object) =>
  helm(['template', 'demo', CHART, '--kube-version', '1.30.0'], values).stderr

it("the ingress leads capture's paths to capture, and those of the API to api", async () => {
  const lists = [...read('templates/ingress.yaml').matchAll(/range \$path := list ([^}]+) }}/g)]
  const [capture, api] = lists.map(([, list]) => [...list!.matchAll(/"([^"]+)"/g)].map(([, path]) => path!))
  expect(capture!.toSorted()).toEqual(prefixesOf(await capturePaths()))
  const isUnder = (path: string) => (prefix: string) => `${path}/`.startsWith(`${prefix.replace(/\/$/, '')}/`)
  /** The longest that fits, as an ingress has it. */
  const longest = (prefixes: readonly string[], path: string) =>
    Math.max(...prefixes.filter(isUnder(path)).map(({ length }) => length), 0)
  const wrong = routes.filter(({ path }) => longest(capture!, path) >= longest(api!, path))
  expect(wrong.map(({ path }) => path)).toEqual([])
})

it('values.yaml sets settings that exist', () => {
  const { settings } = parse(read('values.yaml')) as { settings: object }
  const secrets = [...read('values.yaml').matchAll(/^ {2}# {2}([A-Z_]+):/gm)].map(([, name]) => name!)
  expect(secrets.length).toBeGreaterThan(3)
  const names = [...Object.keys(settings), ...secrets]
  expect(names.filter((name) => !Object.hasOwn(Environment.shape, name))).toEqual([])
})

describe.skipIf(HELM === undefined)('rendered', () => {
  it('passes helm lint, strictly', () => {
    const { stdout, status } = helm(['lint', '--strict', CHART], ALL)
    expect([status, stdout.includes('0 chart(s) failed')]).toEqual([0, true])
  })

  it.skipIf(KUBERNETES_MODELS === undefined).each([
    ['with the least', LEAST],
    ['with everything', ALL],
  ])('%s: every manifest is what Kubernetes takes', (_what, values) => {
    const require = createRequire(import.meta.url)
    const faultOf = (manifest: Manifest): string | null => {
      const models = require(join(KUBERNETES_MODELS!, manifest.apiVersion, manifest.kind)) as Record<
        string,
        Manifest
      >
      try {
        new models[manifest.kind](manifest).validate()
        return null
      } catch (error) {
        return `${manifest.kind} ${manifest.metadata.name}: ${String(error)}`
      }
    }
    const manifests = render(values)
    expect(manifests.map(faultOf).filter((fault) => fault !== null)).toEqual([])
    // The schemas notice what is wrong.
    const deployment = manifests.find(({ kind }) => kind === 'Deployment')
    expect(faultOf({ ...deployment, spec: { ...deployment.spec, replicas: 'two' } })).toContain('replicas')
  })

  it('has a Deployment and a budget for each role, with probes and requests, that updates without a gap', () => {
    const manifests = render(LEAST)
    const named = (kind: string) =>
      manifests.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)
    expect(named('Deployment')).toEqual(ROLES.map((role) => `demo-longshore-${role}`))
    expect(named('PodDisruptionBudget')).toEqual(ROLES.map((role) => `demo-longshore-${role}`))
    expect(named('Service')).toEqual(['demo-longshore-api', 'demo-longshore-capture'])
    expect([named('Ingress'), named('NetworkPolicy'), named('HorizontalPodAutoscaler')]).toEqual([[], [], []])
    for (const { spec, metadata } of manifests.filter(({ kind }) => kind === 'Deployment')) {
      const [container] = spec.template.spec.containers
      const role = metadata.labels['app.kubernetes.io/component']
      expect(container.args).toEqual(['serve', '--only', role])
      expect(container.readinessProbe.httpGet.path).toBe('/_readyz')
      expect(container.resources.requests).toMatchObject({
        cpu: expect.any(String),
        memory: expect.any(String),
      })
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
      expect(spec.replicas).toBe(2)
      expect(spec.selector.matchLabels).toMatchObject({ 'app.kubernetes.io/component': role })
      expect(container.securityContext.readOnlyRootFilesystem).toBe(true)
      // Secrets are read from the Secret alone.
      expect(JSON.stringify(spec)).not.toContain(SECRETS.DATABASE_URL)
    }
    const [job] = manifests.filter(({ kind }) => kind === 'Job')
    expect(job.metadata.annotations['helm.sh/hook']).toBe('pre-upgrade')
    expect(job.spec.template.spec.containers[0].args).toEqual(['migrate'])
  })

  it('with everything: paths, autoscaling without a fixed number, a Secret of its own', () => {
    const manifests = render({ ...ALL, secret: { existing: 'mine' } })
    const kinds = new Set(manifests.map(({ kind }) => kind))
    expect([kinds.has('Secret'), kinds.has('NetworkPolicy')]).toEqual([false, true])
    const capture = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'demo-longshore-capture',
    )
    expect(capture.spec.replicas).toBe(undefined)
    const [container] = capture.spec.template.spec.containers
    expect(container.envFrom).toEqual([{ secretRef: { name: 'mine' } }])
    expect(container.env).toContainEqual({ name: 'EXPORT_MAX_RUNS', value: '4' })
    const { paths } = manifests.find(({ kind }) => kind === 'Ingress').spec.rules[0].http
    expect(paths.at(-1)).toMatchObject({ path: '/', backend: { service: { name: 'demo-longshore-api' } } })
    expect(paths[0]).toMatchObject({
      path: '/array',
      backend: { service: { name: 'demo-longshore-capture' } },
    })
  })

  it.each([
    ['no address', { secret: LEAST.secret }, 'siteUrl has to be set'],
    ['no database', { siteUrl: LEAST.siteUrl }, 'secret.values.DATABASE_URL has to be set'],
    ['a misspelt value', { ...LEAST, replica: 3 }, 'Additional property replica is not allowed'],
    ['a setting that the chart makes', { ...LEAST, settings: { PORT: 80 } }, 'settings'],
    ['no host', { ...LEAST, ingress: { enabled: true } }, 'ingress.host has to be set'],
  ])('refuses %s', (_what, values, message) => {
    expect(refusal(values)).toContain(message)
  })
})
