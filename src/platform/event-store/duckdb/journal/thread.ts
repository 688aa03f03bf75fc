// The journal's own thread: waiting for the disk is all it does.
import { workerData } from 'node:worker_threads'
import { serveCalls, type Handlers } from '../calls.ts'
import { ownThreadPort } from '../ports.ts'
import { Journal } from './journal.ts'
import type { JournalCalls, JournalOptions } from './messages.ts'

function open({ folder }: JournalOptions): Handlers<JournalCalls> {
  const journal = Journal.open(folder)
  return {
    recovered: () => ({ waiting: journal.waiting, deleted: journal.deleted, damages: journal.damages }),
    append: (writes, now, copies_position) => journal.append(writes, now, copies_position),
    beginLookUp: (project_id) => journal.look_ups.begin(project_id),
    foundAbsent: (project_id, look_up, ids) => journal.look_ups.foundAbsent(project_id, look_up, ids),
    endLookUp: (project_id, look_up) => journal.look_ups.end(project_id, look_up),
    raiseTime(time, project_id) {
      journal.raiseTime(time)
      return journal.lastPosition(project_id)
    },
    lastPosition: (project_id) => journal.lastPosition(project_id),
    copiesPosition: () => journal.copies_position,
    seal: (project_id) => journal.seal(project_id),
    folded: (project_id, manifest) => journal.folded(project_id, manifest),
    replaced: (project_id, manifest) => journal.replaced(project_id, manifest),
    deleteProject: (project_id) => journal.deleteProject(project_id),
    close: () => journal.close(),
  }
}

await serveCalls<JournalCalls>(ownThreadPort(), () => open(workerData as JournalOptions))
