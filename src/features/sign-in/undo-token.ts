// The secret of the link that undoes a changed address. Nothing of it is stored: it is a keyed fingerprint of the way
// back, so neither another change of the address nor one of the password ends it, and using it does.
import type { Services } from '../../platform/services.ts'
import type { AddressUndo } from '../users/addresses.ts'
import type { UserRow } from '../users/schema.ts'

const PURPOSE = 'address undo'

export function newUndoToken({ secrets }: Services, user: UserRow, undo: AddressUndo): string {
  return secrets.fingerprint(PURPOSE, ...stateOf(user, undo))
}

export function opensUndo({ secrets }: Services, user: UserRow, undo: AddressUndo, token: string): boolean {
  return secrets.matches(token, PURPOSE, ...stateOf(user, undo))
}

function stateOf({ uuid }: UserRow, { old_email, changed_at }: AddressUndo): string[] {
  return [uuid, old_email, changed_at.toISOString()]
}
