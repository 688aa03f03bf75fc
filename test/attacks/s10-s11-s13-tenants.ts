// Things of another organization, by their real ids: below the path of their own, and below that of the attackers; and
// what members, strangers and limited keys are not for. All routes of the program, one of each kind of thing.
import { expect } from 'vitest'
import { routes } from '../../src/app/http.ts'
import { LEVELS } from '../../src/platform/http/caller.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { GOOD_BODIES, type Home } from '../every-route-world.ts'
import type { Workspace } from '../factories.ts'
import { attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

/** The same handlers are mounted below several paths: one of them is enough here. */
const OTHER_MOUNTS =
  /^\/api\/(environments|plugin_config)\/|^\/api\/organizations\/:organization_id\/(batch_exports|projects|pipeline_)|\/pipeline_/
const once = routes.filter(({ path }) => !OTHER_MOUNTS.test(path))
const nameOf = ({ method, path }: Route) => `${method} ${path}`
const hasChild = ({ path }: Route) =>
  /:(?!organization_id|project_id)[a-z_]+/.test(path.replace(/^\/api\/(organizations|projects)\/:id/, ''))
const isBelowTenant = ({ path }: Route) => /^\/api\/(organizations|projects)\/:/.test(path)
const below = once.filter(isBelowTenant)
const withChild = below.filter(hasChild)

/** The path of a route: who it is below, and whose child is named. */
function pathOf(scene: Scene, { path }: Route, parent: Workspace, child: Workspace): string {
  return path
    .replace(/^\/api\/organizations\/:(organization_id|id)/, `/api/organizations/${parent.organization.id}`)
    .replace(/^\/api\/projects\/:(project_id|id)/, `/api/projects/${parent.project.id}`)
    .replaceAll(/:[a-z_]+/g, () => scene.children(path, child))
}

function bodyOf(scene: Scene, route: Route): { body?: unknown } {
  const home: Home = scene
  const body = GOOD_BODIES[nameOf(route)]?.(home, route.path)
  return route.method === 'GET' || body === undefined ? {} : { body }
}

/** Nothing of the victim has changed, and its owner still gets at it. */
async function assertUntouched({ call, victim }: Scene): Promise<void> {
  const { key } = victim.owner
  for (const path of [
    `/api/organizations/${victim.organization.id}/`,
    `/api/projects/${victim.project.id}/`,
  ]) {
    const { status, body } = await call('GET', path, { key })
    expect([path, status]).toEqual([path, 200])
    expect(body.name).toBe(path.includes('organizations') ? victim.organization.name : victim.project.name)
  }
}

const foreign = attackEach<Scene, Route>(
  'S10',
  below,
  (route) => `${nameOf(route)} of another tenant`,
  async (scene, route) => {
    const path = pathOf(scene, route, scene.victim, scene.victim)
    const callers = [scene.home.owner.key, scene.keyOfOtherProject, scene.loner.key]
    // Keys limited to the victim belong to somebody who is not a member there.
    for (const key of callers) {
      const reply = await scene.call(route.method, path, { key, ...bodyOf(scene, route) })
      expect([403, 404]).toContain(reply.status)
    }
    await assertUntouched(scene)
  },
)

const smuggled = attackEach<Scene, Route>(
  'S10',
  withChild,
  (route) => `${nameOf(route)}: the id of another tenant below the own path`,
  async (scene, route) => {
    const path = pathOf(scene, route, scene.home, scene.victim)
    const { status } = await scene.call(route.method, path, {
      key: scene.home.owner.key,
      ...bodyOf(scene, route),
    })
    expect(status).toBe(404)
    await assertUntouched(scene)
  },
)

const invites = attackEach<Scene, [string, string]>(
  'S13',
  [
    ['DELETE', ''],
    ['POST', 'resend/'],
  ],
  ([method, path]) => `${method} of an invite of another organization, with the rights of an owner: ${path}`,
  async ({ call, home, victim }, [method, path]) => {
    const body = { target_email: `kept-${method.toLowerCase()}@example.com` }
    const own = `/api/organizations/${victim.organization.id}/invites/`
    const { id } = (await call('POST', own, { key: victim.owner.key, body })).body
    for (const organization of [home.organization.id, '@current', victim.organization.id]) {
      const reply = await call(method, `/api/organizations/${organization}/invites/${id}/${path}`, {
        key: home.owner.key,
        ...(method === 'POST' ? { body: {} } : {}),
      })
      expect([403, 404]).toContain(reply.status)
    }
    const { results } = (await call('GET', own, { key: victim.owner.key })).body
    expect(results.map((invite: { id: string }) => invite.id)).toContain(id)
  },
)

const aboveMember = below.filter(({ level }) => level !== undefined && LEVELS[level] > LEVELS.member)

const levels = attackEach<Scene, Route>(
  'S11',
  aboveMember,
  (route) => `${nameOf(route)} as a member, as a stranger and without a key`,
  async (scene, route) => {
    const path = pathOf(scene, route, scene.home, scene.home)
    const send = (key: string | null) => scene.call(route.method, path, { key, ...bodyOf(scene, route) })
    expect((await send(scene.member.key)).status).toBe(403)
    expect([403, 404]).toContain((await send(scene.victim.owner.key)).status)
    expect((await send(null)).status).toBe(401)
    expect((await send('phx_nobody')).status).toBe(401)
    expect((await scene.call('GET', '/api/users/@me/', { key: scene.member.key })).status).toBe(200)
  },
)

export const attacks: Attack<Scene>[] = [...foreign, ...smuggled, ...invites, ...levels]
