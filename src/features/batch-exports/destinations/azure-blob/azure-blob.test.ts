// Files to Azure Blob Storage: the promises of every destination, and what is Azure's own, against Azurite.
import { BlobServiceClient, StorageSharedKeyCredential, type ContainerClient } from '@azure/storage-blob'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startAzurite, type Azurite } from '../../../../../test/stand-ins/azurite.ts'
import { startCuttingProxy } from '../../../../../test/stand-ins/cutting-proxy.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import { Refused, Unreachable, type DestinationKind } from '../destination.ts'
import {
  contextOf,
  deliverTo,
  makeTemporaryFolder,
  readRows,
  RUN_NAME,
  runStep,
  writeFiles,
} from '../fixture/file-runs.ts'
import { describeDestination } from '../fixture/suite.ts'
import type { World } from '../fixture/world.ts'
import { azureBlobKind } from './kind.ts'
import { IS_LONG } from '../../../../../test/harness/long.ts'

let azurite: Azurite
beforeAll(async () => {
  azurite = await startAzurite()
})
afterAll(() => azurite.close())

let containers = 0

async function openWorld(more: object = {}): Promise<World & { container: ContainerClient }> {
  const proxy = await startCuttingProxy({ host: '127.0.0.1', port: azurite.port })
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const { account_name, account_key } = azurite
  const credential = new StorageSharedKeyCredential(account_name, account_key)
  const service = new BlobServiceClient(`http://127.0.0.1:${azurite.port}/${account_name}`, credential)
  const container_name = `exports-${(containers += 1)}`
  const container = service.getContainerClient(container_name)
  await container.create()
  const config = {
    account_name,
    account_key,
    container_name,
    prefix: 'pre/{table}',
    endpoint_url: `http://127.0.0.1:${proxy.port}/${account_name}`,
    ...more,
  }
  return {
    container,
    kind: azureBlobKind as unknown as DestinationKind,
    config,
    wrong_credentials: { ...config, account_key: Buffer.from('not the account key').toString('base64') },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    rows: async () => readRows(await readAll(container)),
    makeTableWithout: null,
    // Azure has no call that drops blocks of an attempt: they are not visible, and go by themselves.
    leftovers: async () => [],
    cuts: proxy.cuts,
    refuseRemoval: async (name) =>
      void (await container.getBlobClient(name).getBlobLeaseClient().acquireLease(-1)),
    async close() {
      await outbound.close()
      await proxy.close()
    },
  }
}

async function readAll(container: ContainerClient): Promise<[string, Buffer][]> {
  const found: [string, Buffer][] = []
  for await (const { name } of container.listBlobsFlat()) {
    found.push([name, await container.getBlobClient(name).downloadToBuffer()])
  }
  return found
}

describeDestination('AzureBlob', openWorld)
if (IS_LONG)
  describeDestination('AzureBlob, CSV by brotli', () =>
    openWorld({ file_format: 'CSV', compression: 'brotli' }),
  )

describe('AzureBlob alone', () => {
  let folder: Awaited<ReturnType<typeof makeTemporaryFolder>>
  let world: Awaited<ReturnType<typeof openWorld>>
  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    world = await openWorld()
  })
  afterEach(async () => {
    await world.close()
    await folder.remove()
  })

  const names = async () => (await readAll(world.container)).map(([name]) => name)
  const NAME = `pre/events/${RUN_NAME}.jsonl`

  test('numbered files with their marks, and a manifest', async () => {
    const files = await writeFiles(folder.path, 'one', 'second')
    const config = { max_file_size_mb: 1 }
    const delivered = await deliverTo(world, files, { config })
    const expected = [0, 1].map((index) => `pre/events/${RUN_NAME}-${index}.jsonl`)
    expect(delivered.files.map(({ name }) => name)).toEqual(expected)
    const manifest = `pre/events/${RUN_NAME}_manifest.json`
    expect(await names()).toEqual([...expected, manifest])
    const content = await world.container.getBlobClient(manifest).downloadToBuffer()
    expect(JSON.parse(content.toString())).toMatchObject({ files: expected, rows: 2, bytes: 9 })
    const { metadata } = await world.container.getBlobClient(expected[1]!).getProperties()
    expect(metadata).toEqual({ rows: '1', sha256: files[1]!.sha256 })
  })

  test('a large file goes in several blocks', async () => {
    const path = join(folder.path, 'large')
    const bytes = 50 * 1024 * 1024 + 3
    const handle = await open(path, 'w')
    await handle.truncate(bytes)
    await handle.write('end', bytes - 3)
    await handle.close()
    await deliverTo(world, [{ index: 0, path, rows: 5, bytes, sha256: 'f'.repeat(64) }])
    const blob = world.container.getBlockBlobClient(NAME)
    expect((await blob.getBlockList('all')).committedBlocks).toHaveLength(2)
    const end = await blob.downloadToBuffer(bytes - 4, 4)
    expect(end.toString()).toBe('\0end')
  })

  test('blocks of an attempt that died never get into a file, and are gone with the next one', async () => {
    const { open: begin } = await world.kind.load()
    await (await begin(contextOf(world))).write((await writeFiles(folder.path, 'dead'))[0]!)
    expect(await names()).toEqual([])
    await deliverTo(world, await writeFiles(folder.path, 'alive'), { run: { attempt: 2 } })
    expect(await readAll(world.container)).toEqual([[NAME, Buffer.from('alive')]])
    const { uncommittedBlocks } = await world.container.getBlockBlobClient(NAME).getBlockList('all')
    expect(uncommittedBlocks ?? []).toEqual([])
  })

  test('an unknown container and a wrong key are refused, in words without the signature', async () => {
    const fail = async (config: object) =>
      await deliverTo(world, await writeFiles(folder.path, 'x'), { config }).catch((error: unknown) => error)
    const missing = await fail({ container_name: 'nobody' })
    expect(missing).toBeInstanceOf(Refused)
    expect((missing as Error).message).toBe(
      'The container does not exist. Create it, or correct `container_name`.',
    )
    const denied = await fail({ account_key: 'd3Jvbmc=' })
    expect(denied).toBeInstanceOf(Refused)
    expect((denied as Error).message).not.toMatch(/signature|[A-Za-z0-9+/]{40}/i)
    await expect(runStep(world, 0, { container_name: 'nobody' })).rejects.toThrow('does not exist')
    expect(await names()).toEqual([])
  })

  test.each([
    ['account_name', { account_name: 'evil.example/' }],
    ['container_name', { container_name: 'a/b' }],
    ['container_name', { container_name: 'a--b' }],
    ['prefix', { prefix: 'a/../b' }],
    ['endpoint_url', { endpoint_url: 'https://a.example/?sv=1&sig=secret' }],
    ['compression', { compression: 'zstd' }],
    ['compression_level', { compression: 'brotli', compression_level: 12 }],
    ['csv_header', { csv_header: false }],
  ])('a configuration with a wrong %s is not taken: %j', (field, more) => {
    const config = azureBlobKind.config.parse({ ...world.config, ...more })
    expect(azureBlobKind.faults!(config)).toMatchObject({ field })
    expect(JSON.stringify(azureBlobKind.faults!(config))).not.toContain('secret')
    expect(azureBlobKind.faults!(azureBlobKind.config.parse(world.config))).toBeNull()
  })

  test('something else behind the address: unreachable, and its redirects are not followed', async () => {
    const seen: string[] = []
    const other = createServer((request, response) => {
      seen.push(request.url!)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const endpoint_url = `http://127.0.0.1:${port}/${azurite.account_name}`
    await expect(runStep(world, 0, { endpoint_url })).rejects.toThrow(Unreachable)
    const files = await writeFiles(folder.path, 'x')
    await expect(deliverTo(world, files, { config: { endpoint_url } })).rejects.toThrow(Unreachable)
    other.closeAllConnections()
    other.close()
    expect(seen).toHaveLength(2)
    expect(await names()).toEqual([])
  })

  test('an inner address: refused by the gate at once; a name that does not resolve: unreachable', async () => {
    const outbound = openOutbound({ allow: [], lookup: async () => [] })
    await expect(runStep({ ...world, outbound }, 0)).rejects.toThrow(Refused)
    await expect(runStep({ ...world, outbound }, 0, { endpoint_url: null })).rejects.toThrow(Unreachable)
    await outbound.close()
    expect(world.cuts!.count()).toBe(0)
  })
})
