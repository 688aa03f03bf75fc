// Loaded into every process and thread of a server whose power is to be cut (`--require`). It writes down what the server
// made durable: for a file, how long it was when it was synced; for a folder, the entries that it had. Entries are linked
// into a folder of their own, so that what is removed afterwards can come back. cut.ts reads it.
'use strict'
const fs = require('node:fs')
const { join } = require('node:path')
const { syncBuiltinESMExports } = require('node:module')

const { POWER_ROOT: root, POWER_RECORDS: records } = process.env
const { fsyncSync, fdatasyncSync } = fs

function recording(sync) {
  return (descriptor) => {
    const path = fs.readlinkSync(`/proc/self/fd/${descriptor}`)
    if (path !== root && !path.startsWith(`${root}/`)) return sync(descriptor)
    const found = fs.fstatSync(descriptor)
    if (found.isDirectory()) return record({ folder: path, entries: entriesOf(path) })
    keep(path, found.ino)
    record({ ino: found.ino, size: found.size })
  }
}

/** Names with the numbers of their files; folders have none. */
function entriesOf(folder) {
  const entries = {}
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name)
    const found = fs.lstatSync(path, { throwIfNoEntry: false })
    if (!found) continue
    if (found.isFile()) keep(path, found.ino)
    entries[name] = found.isFile() ? found.ino : null
  }
  return entries
}

/** A file that is kept does not leave its number to another one. */
function keep(path, ino) {
  try {
    fs.linkSync(path, join(records, String(ino)))
  } catch (error) {
    // It is kept already, or it was removed this moment.
    if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  }
}

function record(line) {
  fs.appendFileSync(join(records, 'log'), `${JSON.stringify(line)}\n`)
}

fs.fsyncSync = recording(fsyncSync)
fs.fdatasyncSync = recording(fdatasyncSync)
syncBuiltinESMExports()
