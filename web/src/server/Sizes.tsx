import { Text } from '@mantine/core'
import { Bytes, Count } from '../ui/Values'
import type { Part } from './health'
import { Meter } from './Meter'

const Missing = () => <Text c="dimmed">Could not be read.</Text>

export function MemoryFacts({ memory }: { memory: Part<'memory'> }) {
  if (memory === null) return <Missing />
  const most = memory.limit_bytes ?? memory.machine_bytes
  const ofAll = (
    <>
      <Bytes value={memory.bytes} /> of <Bytes value={most} />
    </>
  )
  return (
    <>
      <Meter
        label={memory.limit_bytes === null ? 'Of the machine' : 'Of its limit'}
        value={ofAll}
        share={memory.bytes / most}
      />
      {memory.processes.map(({ name, count, bytes }) => (
        <Meter
          key={name}
          label={count === 1 ? name : `${name} (${count})`}
          value={<Bytes value={bytes} />}
          share={bytes / most}
        />
      ))}
      <Text size="sm" c="dimmed" mt="md">
        The event store may use <Bytes value={memory.event_store_limit_bytes} />.
      </Text>
    </>
  )
}

export function DiskFacts({ disk, database }: { disk: Part<'disk'>; database: Part<'database'> }) {
  if (disk === null) return <Missing />
  const used = disk.total_bytes - disk.free_bytes
  const room = (
    <>
      <Bytes value={disk.free_bytes} /> of <Bytes value={disk.total_bytes} /> left
    </>
  )
  return (
    <>
      <Meter label="In use on the disk" value={room} share={used / disk.total_bytes} />
      {disk.parts.map(({ name, bytes }) => (
        <Meter key={name} label={name} value={<Bytes value={bytes} />} share={bytes / disk.total_bytes} />
      ))}
      <Text size="sm" c="dimmed" mt="md">
        Folder <span className="mono">{disk.folder}</span>.{' '}
        {database && (
          <>
            The database holds <Bytes value={database.bytes} />.
          </>
        )}{' '}
        {!disk.is_complete && (
          <>
            There are more than <Count value={100_000} /> files: the parts are larger than they say.
          </>
        )}
      </Text>
    </>
  )
}
