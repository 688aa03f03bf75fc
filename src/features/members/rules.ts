// Who may change or remove whom (organizations.md §2 and §4). No I/O.
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'

/** Whether this member may be changed at all; asked before the body is looked at. */
export function assertMayChange(actor: Level, target: Level): void {
  if (actor < LEVELS.admin) throw denied('Changing levels requires the level admin or owner.')
  if (target > actor) throw denied('You cannot change a member whose level is above yours.')
}

export function assertMayGrant(actor: Level, level: Level, isSelf: boolean): void {
  if (isSelf) throw denied('You cannot change your own level.')
  if (level > actor) throw denied('You cannot grant a level above your own.')
}

export function assertMayRemove(actor: Level, target: Level, isSelf: boolean): void {
  if (isSelf) return
  if (actor < LEVELS.admin) throw denied('Removing others requires the level admin or owner.')
  if (target > actor) throw denied('You cannot remove a member whose level is above yours.')
}

export function assertOwnerLeft(target: Level, ownerCount: number): void {
  if (target === LEVELS.owner && ownerCount <= 1) {
    throw invalid(null, 'invalid_input', 'The last owner cannot leave: make somebody else owner first.')
  }
}
