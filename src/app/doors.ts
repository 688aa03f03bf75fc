// Which paths this process answers, by its roles. Whoever asks for another one is told which processes serve it: requests
// that end up here are a fault of the proxy in front, and its operator has to see which.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../platform/http/errors.ts'
import type { Role } from './roles.ts'

/** Roles that answer requests. */
type Door = Extract<Role, 'api' | 'capture'> | 'every role'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whose path it is. */
    door?: Door
  }
}

const SERVED = { api: 'The API and the console are', capture: 'Capture is' }

/** Paths that are added within the function that is returned are that role's; all others are the API's. */
export function keepDoors(
  app: FastifyInstance,
  roles: readonly Role[],
  /** Calls of the program itself, which come through no door. */
  isFromWithin: (request: FastifyRequest) => boolean,
): (door: Door, add: () => void) => void {
  let adding: Door = 'api'
  app.addHook('onRoute', (route) => void (route.config = { ...route.config, door: adding }))
  app.addHook('onRequest', (request, _reply, done) => {
    const { door = 'api' } = request.routeOptions.config
    if (door === 'every role' || roles.includes(door) || isFromWithin(request)) done()
    else done(servedElsewhere(door, roles))
  })
  return (door, add) => {
    adding = door
    add()
    adding = 'api'
  }
}

function servedElsewhere(door: keyof typeof SERVED, roles: readonly Role[]): ApiError {
  const ours = `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`
  return new ApiError(
    'not_found',
    `${SERVED[door]} served by processes with the role ${door}; this one has the ${ours}.`,
  )
}
