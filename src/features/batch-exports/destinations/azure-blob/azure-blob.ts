// Delivers files to Azure Blob Storage: blocks that nobody sees until the list of them is committed. Loaded when a run
// or a test needs it.
import {
  BlobServiceClient,
  newPipeline,
  StorageSharedKeyCredential,
  type BlockBlobClient,
  type ContainerClient,
} from '@azure/storage-blob'
import { createHash } from 'node:crypto'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import type { Destination, TestStep } from '../destination.ts'
import {
  deliverFiles,
  explainRemoval,
  fileEncoding,
  fileNames,
  type FilePlace,
  type StagedFile,
} from '../file-delivery.ts'
import { partOf, sendParts, type FilePart } from '../file-parts.ts'
import { trialName } from '../prefix.ts'
import { azureFault, isMissing } from './faults.ts'
import { serviceUrl, type AzureBlobConfig } from './kind.ts'

type Container = { client: ContainerClient; close(): void }

/** The second try comes at once, the next after 2, 6 and 14 s. */
const RETRIES = { maxTries: 5, retryDelayInMs: 2_000, maxRetryDelayInMs: 32_000 }

const reachable: TestStep<AzureBlobConfig> = {
  name: 'Container reachable',
  description: 'Asks the account for the container with the key given.',
  run: ({ config, outbound, signal }) =>
    withContainer(config, outbound, async ({ client }) => {
      await asking(signal, () => client.getProperties({ abortSignal: signal }))
    }),
}

const writable: TestStep<AzureBlobConfig> = {
  name: 'Container writable',
  description: 'Puts a small blob under the prefix and removes it.',
  run: ({ config, outbound, signal }) =>
    withContainer(config, outbound, async ({ client }) => {
      const blob = client.getBlockBlobClient(trialName(config.prefix))
      await asking(signal, () => blob.upload('', 0, { abortSignal: signal }))
      await asking(signal, () => blob.delete({ abortSignal: signal }))
    }),
}

export const azureBlob: Destination<AzureBlobConfig> = {
  encoding: fileEncoding,
  fileNames,
  steps: [reachable, writable],
  async open(context) {
    const container = openContainer(context.config, context.outbound)
    return deliverFiles(placeInContainer(container, context.signal), context)
  },
  async inspect({ config, outbound, signal }) {
    const { client, close } = openContainer(config, outbound)
    return {
      files: {
        read: (name) => asking(signal, () => readBlob(client, name, signal)),
        list: (folder) => listBlobs(client, folder, signal),
      },
      close: async () => close(),
    }
  },
}

function openContainer(config: AzureBlobConfig, outbound: Outbound): Container {
  const url = serviceUrl(config)
  const agents = outbound.agents()
  // The last two are handed on to the layer below, which its types do not say. With an agent of ours it also leaves the
  // proxies of the environment alone.
  const options = {
    retryOptions: RETRIES,
    agent: url.startsWith('https:') ? agents.https : agents.http,
    redirectOptions: { maxRetries: 0 },
  }
  const credential = new StorageSharedKeyCredential(config.account_name, config.account_key)
  const service = new BlobServiceClient(url, newPipeline(credential, options))
  return { client: service.getContainerClient(config.container_name), close: () => agents.close() }
}

function placeInContainer({ client, close }: Container, signal: AbortSignal): FilePlace {
  return {
    async stage(name, file) {
      const blob = client.getBlockBlobClient(name)
      const blocks = await sendParts(file, signal, (part, stop) =>
        sendBlock(blob, blockId(file.sha256, part.index), part, stop),
      )
      const metadata = { rows: String(file.rows), sha256: file.sha256 }
      return staged(() => blob.commitBlockList(blocks, { metadata }))
    },
    async stageText(name, content) {
      const blob = client.getBlockBlobClient(name)
      const sha256 = createHash('sha256').update(content).digest('hex')
      const block = await sendBlock(blob, blockId(sha256, 0), partOf(content), signal)
      const blobHTTPHeaders = { blobContentType: 'application/json' }
      return staged(() => blob.commitBlockList([block], { blobHTTPHeaders }))
    },
    async remove(name) {
      const removed = asking(null, () => client.getBlobClient(name).deleteIfExists())
      await removed.catch(explainRemoval(name, 'it by ending the lease or the policy that keeps the blob'))
    },
    close,
  }
}

async function sendBlock(
  blob: BlockBlobClient,
  id: string,
  part: FilePart,
  signal: AbortSignal,
): Promise<string> {
  const options = { abortSignal: signal, transactionalContentMD5: Buffer.from(part.md5, 'base64') }
  await asking(signal, () => blob.stageBlock(id, () => part.read(), part.bytes, options))
  return id
}

function staged(commit: () => Promise<unknown>): StagedFile {
  return {
    async publish() {
      await asking(null, commit)
    },
    // Azure has no call for it: nobody sees the blocks, the next attempt replaces them, and a week later they go.
    drop: async () => {},
  }
}

/** Blocks of another content can never be mixed in. All ids of a blob have to be of one length. */
function blockId(sha256: string, index: number): string {
  return Buffer.from(`${sha256.slice(0, 32)}-${String(index).padStart(6, '0')}`).toString('base64')
}

async function readBlob(client: ContainerClient, name: string, signal: AbortSignal) {
  try {
    const { readableStreamBody } = await client.getBlobClient(name).download(0, undefined, {
      abortSignal: signal,
    })
    return (readableStreamBody as AsyncIterable<Uint8Array> | undefined) ?? null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function* listBlobs(
  client: ContainerClient,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const prefix = folder === '' ? '' : `${folder}/`
  const found = client.listBlobsByHierarchy('/', { prefix, abortSignal: signal })
  for (;;) {
    const { done, value } = await asking(signal, () => found.next())
    if (done) return
    if (value.kind === 'blob') yield value.name
  }
}

async function withContainer(
  config: AzureBlobConfig,
  outbound: Outbound,
  work: (container: Container) => Promise<void>,
): Promise<void> {
  const container = openContainer(config, outbound)
  try {
    await work(container)
  } finally {
    container.close()
  }
}

/** One exchange with Azure; what goes wrong is said in the words of destinations. */
async function asking<T>(signal: AbortSignal | null, exchange: () => Promise<T>): Promise<T> {
  try {
    return await exchange()
  } catch (error) {
    signal?.throwIfAborted()
    throw azureFault(error)
  }
}
