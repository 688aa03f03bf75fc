import type { Schema } from '../../api/client'
import { Status } from '../../ui/Status'

export const DomainState = ({ domain }: { domain: Schema<'Domain'> }) => (
  <Status kind={domain.is_verified ? 'delivered' : 'waiting'}>
    {domain.is_verified ? 'verified' : 'not verified'}
  </Status>
)
