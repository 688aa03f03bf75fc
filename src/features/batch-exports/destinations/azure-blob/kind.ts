// Azure Blob Storage. Credentials stand in the configuration: there are no linked integrations.
import { z } from 'zod'
import type { DestinationKind } from '../destination.ts'
import { connection } from '../described.ts'
import {
  FILE_CONDITIONS,
  fileOutputFault,
  eventFilter,
  fileOutput,
  name,
  optionalName,
  secret,
} from '../config-fields.ts'
import { ENDPOINT, endpointFault, endpointOf } from '../endpoint.ts'
import { OWN_FOLDER, PREFIX, prefixFault } from '../prefix.ts'

const Config = z.strictObject({
  account_name: name().meta(connection('Storage account', 'Its name, as in its address.')),
  account_key: secret().meta(connection('Account key', 'One of the two access keys of the storage account.')),
  container_name: name().meta(connection('Container', 'It must exist.')),
  /** Null for `https://<account_name>.blob.core.windows.net`. */
  endpoint_url: optionalName().meta(ENDPOINT),
  prefix: z.string().trim().max(1024).default(OWN_FOLDER).meta(PREFIX),
  ...fileOutput,
  ...eventFilter,
})
export type AzureBlobConfig = z.output<typeof Config>

/** Azure's own for the account, unless another is named. */
export function serviceUrl({ endpoint_url, account_name }: AzureBlobConfig): string {
  return endpoint_url ?? `https://${account_name}.blob.core.windows.net`
}

export const azureBlobKind: DestinationKind<AzureBlobConfig> = {
  type: 'AzureBlob',
  name: 'Azure Blob Storage',
  category: 'files',
  description: 'Files in a container of Azure Blob Storage.',
  config: Config,
  example: {
    account_name: 'acme',
    account_key: 'Zm9v…',
    container_name: 'events',
    file_format: 'JSONLines',
    compression: 'gzip',
  },
  secrets: ['account_key'],
  aims: ['account_name', 'container_name', 'endpoint_url'],
  models: ['events', 'persons', 'sessions'],
  columns: 'files',
  takes_custom_columns: true,
  conditions: FILE_CONDITIONS,
  faults(config) {
    if (!/^[a-z0-9]{3,24}$/.test(config.account_name)) {
      return { field: 'account_name', message: 'An account name has 3 to 24 small letters and digits.' }
    }
    if (!/^(\$root|\$web|[a-z0-9](-?[a-z0-9]){2,62})$/.test(config.container_name)) {
      return {
        field: 'container_name',
        message: 'A container name has 3 to 63 small letters, digits and single dashes.',
      }
    }
    const prefix = prefixFault(config.prefix)
    if (prefix !== null) return { field: 'prefix', message: prefix }
    return endpointFault(config.endpoint_url) ?? fileOutputFault(config)
  },
  hosts: (config) => [new URL(serviceUrl(config)).hostname],
  place: (config) => `${endpointOf(serviceUrl(config))}/${config.account_name}/${config.container_name}`,
  target: ({ account_name, container_name, prefix }) => `azure://${account_name}/${container_name}/${prefix}`,
  load: async () => (await import('./azure-blob.ts')).azureBlob,
}
