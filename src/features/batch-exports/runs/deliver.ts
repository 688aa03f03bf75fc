// From files to the destination: all of them written, then made visible at once; or none.
import { rm } from 'node:fs/promises'
import type { Confirm, Delivered, Delivery } from '../destinations/destination.ts'
import type { OutputFile } from '../formats/encoding.ts'

export type DeliverySteps = {
  /** Called with each file once the destination has it. */
  onWritten?(file: OutputFile): void
  /** The last moment to turn back: throws when the run is no longer ours. Told which files will be visible. */
  beforeFinish?(names: readonly string[]): Promise<void>
  confirm: Confirm
}

export async function deliver(
  open: () => Promise<Delivery>,
  files: AsyncIterable<OutputFile>,
  { onWritten, beforeFinish, confirm }: DeliverySteps,
): Promise<Delivered> {
  const delivery = await open()
  try {
    for await (const file of files) {
      await delivery.write(file)
      await rm(file.path, { force: true })
      onWritten?.(file)
    }
    await beforeFinish?.(delivery.names?.() ?? [])
    return await delivery.finish(confirm)
  } catch (error) {
    await delivery.abort()
    throw error
  }
}
