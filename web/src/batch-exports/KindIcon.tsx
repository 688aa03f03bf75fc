import { Icon, type IconName } from '../ui/Icon'
import type { Destination } from './queries'
import classes from './KindIcon.module.css'

const ICONS: Record<Destination['category'], IconName> = {
  files: 'folder',
  database: 'sql',
  warehouse: 'table',
  http: 'web',
  test: 'code',
}
const ICON_OF_TYPE: Readonly<Record<string, IconName>> = { S3: 'bucket', AzureBlob: 'bucket' }

export const iconOf = ({ type, category }: Pick<Destination, 'type' | 'category'>): IconName =>
  ICON_OF_TYPE[type] ?? ICONS[category]

export const kindOf = (type: string, kinds: readonly Destination[]): Destination | undefined =>
  kinds.find((kind) => kind.type === type || kind.aliases.includes(type))

/** What kind of destination it is, as a picture and, when asked for, in words. */
export function KindIcon({
  type,
  kinds,
  withName = false,
}: {
  type: string
  kinds: readonly Destination[]
  withName?: boolean
}) {
  const kind = kindOf(type, kinds)
  return (
    <span className={classes.kind}>
      <Icon name={kind ? iconOf(kind) : 'exports'} />
      {withName && <span className="cut">{kind?.name ?? type}</span>}
    </span>
  )
}
