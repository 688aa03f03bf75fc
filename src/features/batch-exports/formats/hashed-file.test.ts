// What becomes of a file on a disk that takes no more.
import { open } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { HashedFile } from './hashed-file.ts'

describe.runIf(process.platform === 'linux')('a file on a full disk', () => {
  it('says so, instead of ending with a gap', async () => {
    const handle = await open('/dev/full', 'r+')
    const file = new HashedFile('unused', handle)
    const writing = file.write([Buffer.from('a'), Buffer.from('b')])
    await expect(writing).rejects.toThrow(StoreBusy)
    await expect(writing).rejects.toThrow('is full')
    await handle.close()
  })
})
