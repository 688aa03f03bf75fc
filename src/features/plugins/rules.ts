// Who may do what with plugins: the organization's plugins_access_level first, then the caller's own level. No I/O.
import { isLimited, type Caller, type Level } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import type { Settings } from '../../platform/services.ts'

const ACCESS = { config: 3, install: 6, root: 9 } as const

export const MAX_PLUGINS = 200

type MinWriteLevel = Pick<Settings, 'plugins_min_write_level'>

/** Reading plugins, and everything about configs that only reads. */
export function assertMayRead(access_level: number): void {
  assertAccess(access_level, ACCESS.config)
}

/** Switching plugins on and off in projects. */
export function assertMayConfigure(settings: MinWriteLevel, access_level: number, level: Level): void {
  assertAccess(access_level, ACCESS.config)
  assertWriteLevel(settings, level)
}

/** Seeing code. */
export function assertMaySeeSource(access_level: number): void {
  assertAccess(access_level, ACCESS.install)
}

export function assertMayInstall(settings: MinWriteLevel, access_level: number, level: Level): void {
  assertAccess(access_level, ACCESS.install)
  assertWriteLevel(settings, level)
}

/**
 * It runs code in other organizations, so no level in one of them is enough, nor is a key that is limited to some of them.
 * A service key is nobody's.
 */
export function assertMayShare(access_level: number, caller: Caller | null): void {
  assertAccess(access_level, ACCESS.root)
  if (!caller?.user?.is_staff || isLimited(caller))
    throw denied(
      'Other organizations run this plugin, or would run it: only staff of this server may do this.',
    )
}

export function assertRoom(count: number): void {
  if (count < MAX_PLUGINS) return
  throw invalid(null, 'invalid_input', `An organization can have ${MAX_PLUGINS} plugins at most.`)
}

function assertAccess(access_level: number, needed: number): void {
  if (access_level < needed) throw denied('The organization may not do this with plugins.')
}

function assertWriteLevel({ plugins_min_write_level }: MinWriteLevel, level: Level): void {
  if (level < plugins_min_write_level) {
    throw denied('Your level in the organization is too low to change plugins here.')
  }
}
