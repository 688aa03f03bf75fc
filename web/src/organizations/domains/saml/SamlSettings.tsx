// What the provider gives in return: its metadata, which fills in everything, or three fields.
import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../../../api/client'
import { useOrganizationDenial } from '../../../api/me'
import { useForm } from '../../../ui/form'
import { FormProblem } from '../../../ui/FormProblem'
import { GuardedButton } from '../../../ui/Guarded'
import { done } from '../../../ui/notify'
import { ONE, useDomainChange, type Domain } from '../queries'

type From = 'url' | 'xml' | 'fields'

const CHOICES = [
  { value: 'url', label: 'Metadata address' },
  { value: 'xml', label: 'Metadata as text' },
  { value: 'fields', label: 'Three fields' },
]

export function SamlSettings({ domain }: { domain: Domain }) {
  const denial = useOrganizationDenial('admin')
  const [from, setFrom] = useState<From>(domain.has_saml || denial !== null ? 'fields' : 'url')
  return (
    <Stack gap="md">
      <div>
        <Title order={3}>2. Enter what the provider gives you</Title>
        <Text size="sm" c="dimmed">
          Its metadata has all of it: the address, or the text of the file.
        </Text>
      </div>
      <SegmentedControl
        aria-label="What the provider gives you"
        data={CHOICES}
        value={from}
        disabled={denial !== null}
        onChange={(value) => setFrom(value as From)}
      />
      {from === 'fields' ? (
        // Made anew with what metadata has filled in.
        <Fields
          key={`${domain.saml_entity_id} ${domain.saml_acs_url} ${domain.saml_x509_cert}`}
          domain={domain}
        />
      ) : (
        <Metadata key={from} domain={domain} from={from} onRead={() => setFrom('fields')} />
      )}
    </Stack>
  )
}

type MetadataProps = { domain: Domain; from: 'url' | 'xml'; onRead: () => void }

function Metadata({ domain, from, onRead }: MetadataProps) {
  const { params, refresh } = useDomainChange(domain)
  const form = useForm({
    initial: { [from]: '' },
    draft: `saml metadata ${from} ${domain.id}`,
    async submit(body) {
      await answer(api.POST(`${ONE}saml_metadata/`, { params, body }))
      await refresh()
      done('The metadata was read, and the three fields are filled in.')
      onRead()
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        {from === 'url' ? (
          <TextInput
            label="Metadata address"
            placeholder="https://login.example.com/metadata"
            required
            {...form.field('url')}
          />
        ) : (
          <Textarea
            label="Metadata as text"
            description="XML, from <EntityDescriptor to its end."
            required
            autosize
            minRows={5}
            maxRows={12}
            spellCheck={false}
            classNames={{ input: 'mono' }}
            {...form.field('xml')}
          />
        )}
        <Group>
          <Button type="submit" variant="default" loading={form.isBusy}>
            Read metadata
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Fields({ domain }: { domain: Domain }) {
  const denial = useOrganizationDenial('admin')
  const { change } = useDomainChange(domain)
  const form = useForm({
    initial: {
      saml_entity_id: domain.saml_entity_id ?? '',
      saml_acs_url: domain.saml_acs_url ?? '',
      saml_x509_cert: domain.saml_x509_cert ?? '',
    },
    draft: denial === null ? `saml ${domain.id}` : undefined,
    async submit(fields) {
      await change(fields)
      done('The settings of SAML were saved.')
    },
  })
  const common = { required: true, disabled: denial !== null }
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Entity id of the provider"
          description="Also called issuer."
          {...common}
          {...form.field('saml_entity_id')}
        />
        <TextInput
          label="Sign-in address of the provider"
          description="Also called single sign-on URL."
          {...common}
          {...form.field('saml_acs_url')}
        />
        <Textarea
          label="Certificates of the provider"
          description="X.509 in PEM. Several one below the other are accepted, for when the provider changes over."
          autosize
          minRows={4}
          maxRows={10}
          spellCheck={false}
          classNames={{ input: 'mono' }}
          {...common}
          {...form.field('saml_x509_cert')}
        />
        <Group>
          <GuardedButton type="submit" variant="default" denial={denial} loading={form.isBusy}>
            Save SAML
          </GuardedButton>
        </Group>
      </Stack>
    </form>
  )
}
