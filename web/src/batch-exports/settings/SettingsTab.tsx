import type { Export } from '../queries'
export function SettingsTab({ data }: { data: Export }) {
  return <p>{data.name}</p>
}
