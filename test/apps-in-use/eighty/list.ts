// Eighty published apps: those of PostHog's own repository of plugins, and others on GitHub, copies of each other left out.
// What is set here is what a person would have to type; other settings get their defaults, or a word.

export type Tried = {
  repo: string
  config?: Record<string, unknown>
  attachments?: Record<string, string>
  /** The answer of a host out there, by a part of the address: what the app needs to get on. */
  answers?: Record<string, unknown>
  /** What it is about, where that is not what everybody sends. */
  events?: readonly { event: string; properties: object }[]
  /** Sent with each of the usual events. */
  properties?: Record<string, unknown>
  /** The usual events carry one timestamp, as those of a client that sends twice. */
  is_sent_twice?: boolean
  /** The usual events carry it as milliseconds. */
  are_times_numbers?: boolean
  /** Built code is not in its repository, only in its package on npm: what its author's `rollup -c` needs to make it. */
  built_with?: readonly string[]
  /** Needs a PostgreSQL, and gets one under these names of its settings. */
  database?: { host: string; port: string; user: string; password: string; database: string }
}

export const GOOGLE = 'google service account'
export const GEOIP = 'geoip database'
const REDSHIFT = {
  host: 'clusterHost',
  port: 'clusterPort',
  user: 'dbUsername',
  password: 'dbPassword',
  database: 'dbName',
}

export const APPS: readonly Tried[] = [
  {
    repo: 'PostHog/bigquery-plugin',
    config: { datasetId: 'web', tableId: 'events' },
    attachments: { googleCloudKeyJson: GOOGLE },
    answers: { '/tables/events': { schema: { fields: [] } } },
  },
  {
    repo: 'PostHog/bitbucket-release-tracker',
    answers: {
      annotation: { results: [] },
      'bitbucket.org': {
        values: [{ name: 'v1', target: { date: '2026-11-01T00:00:00Z' }, date: '2026-11-01T00:00:00Z' }],
      },
    },
  },
  { repo: 'PostHog/bug-report-app' },
  {
    repo: 'PostHog/currency-normalization-plugin',
    config: { openExchangeRatesApiKey: 'key', normalizedCurrency: 'EUR', amountProperty: 'amount' },
    answers: { openexchangerates: { base: 'USD', rates: { EUR: 0.5, USD: 1 } } },
  },
  {
    repo: 'PostHog/customerio-plugin',
    answers: { workspaces: { workspaces: [{ name: 'one' }] } },
  },
  { repo: 'PostHog/downsampling-plugin', config: { percentage: '0' } },
  {
    repo: 'PostHog/drop-events-on-property-plugin',
    config: { property_key: 'internal', property_values: 'no' },
  },
  { repo: 'PostHog/early-access-features-app' },
  { repo: 'PostHog/event-sequence-timer-plugin', config: { eventsToTrack: '(signed_up,$pageview)' } },
  { repo: 'PostHog/feedback-app' },
  { repo: 'PostHog/first-event-today', config: { events: 'signed_up', timezone: 'Asia/Tokyo' } },
  { repo: 'PostHog/first-time-event-tracker', config: { events: 'signed_up' } },
  { repo: 'PostHog/flatten-properties-plugin' },
  {
    repo: 'PostHog/github-release-tracking-plugin',
    answers: {
      annotations: { results: [] },
      '/releases': [{ name: 'v1', published_at: '2026-11-01T00:00:00Z' }],
    },
  },
  { repo: 'PostHog/github-star-sync-plugin', answers: { stargazers: [], '/repos/': { id: 1 } } },
  {
    repo: 'PostHog/gitlab-release-tracking-plugin',
    answers: {
      annotations: { results: [] },
      '/tags': [{ name: 'v1', commit: { created_at: '2026-11-01T00:00:00Z' } }],
    },
  },
  { repo: 'PostHog/hubspot-plugin', config: { triggeringEvents: 'signed_up' } },
  {
    repo: 'PostHog/ingestion-alert-plugin',
    config: {
      webHookUrlTriggered: 'https://hook.example/',
      webHookUrlResolved: 'https://hook.example/',
      posthogHost: 'https://posthog.example',
    },
    answers: { '/event': { results: [] } },
  },
  { repo: 'PostHog/language-url-splitter-app' },
  {
    repo: 'PostHog/mailboxlayer-plugin',
    answers: { mailboxlayer: { smtp_check: true, score: 0.9 }, '/check': { smtp_check: true, score: 0.9 } },
  },
  { repo: 'PostHog/notification-bar-app' },
  { repo: 'PostHog/pineapple-mode-app' },
  {
    repo: 'PostHog/postgres-plugin',
    config: { tableName: 'sent', databaseUrl: '', hasSelfSignedCert: 'Yes' },
    database: { host: 'host', port: 'port', user: 'dbUsername', password: 'dbPassword', database: 'dbName' },
  },
  {
    repo: 'PostHog/posthog-ai-costs-app',
    events: [
      {
        event: '$ai_generation',
        properties: {
          $ai_provider: 'openai',
          $ai_model: 'gpt-4-turbo-2024-04-09',
          $ai_input_tokens: 100,
          $ai_output_tokens: 200,
        },
      },
    ],
  },
  { repo: 'PostHog/posthog-app-url-parameter-to-event-properties', config: { parameters: 'q' } },
  {
    repo: 'PostHog/posthog-automatic-cohorts-plugin',
    config: { propertiesToTrack: 'email', posthogHost: 'https://posthog.example' },
  },
  { repo: 'PostHog/posthog-avo-plugin' },
  { repo: 'PostHog/posthog-braze-app', config: { brazeEndpoint: 'US-01', eventsToExport: 'signed_up' } },
  { repo: 'PostHog/posthog-braze-plugin', config: { brazeEndpoint: 'US-01', eventsToExport: 'signed_up' } },
  {
    repo: 'PostHog/posthog-databricks-plugin',
    config: { DomainName: 'dbc.example', eventsToIgnore: 'none' },
  },
  { repo: 'PostHog/posthog-engage-so-plugin' },
  {
    repo: 'PostHog/posthog-erc20-event-plugin',
    attachments: { contractABI: '[]', eventParsingInstructions: '{}' },
  },
  {
    repo: 'PostHog/posthog-filter-out-plugin',
    config: { eventsToDrop: 'signed_up' },
    attachments: { filters: '[]' },
  },
  {
    repo: 'PostHog/posthog-gcs-plugin',
    config: { bucketName: 'pail' },
    attachments: { googleCloudKeyJson: GOOGLE },
  },
  {
    repo: 'PostHog/posthog-heartbeat-plugin',
    config: { host: 'https://posthog.example', project_api_key: 'phc_x' },
  },
  { repo: 'PostHog/posthog-hello-world-plugin' },
  {
    repo: 'PostHog/posthog-intercom-plugin',
    config: { triggeringEvents: 'signed_up' },
    answers: { 'contacts/search': { data: [{ id: '1' }] } },
  },
  {
    repo: 'PostHog/posthog-kinesis-plugin',
    config: { awsRegion: 'eu-west-1', eventKey: 'name' },
    // One answer for its three calls, which go to one address.
    answers: {
      'kinesis.eu-west-1': {
        StreamDescription: { Shards: [{ ShardId: 'shard-0' }] },
        ShardIterator: 'here',
        Records: [{ Data: Buffer.from('{"name":"bought"}').toString('base64') }],
      },
    },
  },
  { repo: 'PostHog/posthog-laudspeaker-app' },
  {
    repo: 'PostHog/posthog-maxmind-plugin',
    built_with: [
      'rollup@2.36.1',
      'rollup-plugin-commonjs@10.1.0',
      'rollup-plugin-node-builtins@2.1.2',
      'rollup-plugin-node-resolve@5.2.0',
      'rollup-plugin-typescript2@0.29.0',
      'typescript@4.1.3',
      '@posthog/plugin-scaffold@0.2.8-alpha.2',
      'mmdb-lib@1.2.0',
    ],
    attachments: { maxmindMmdb: GEOIP },
  },
  { repo: 'PostHog/posthog-memphisdev-app' },
  {
    repo: 'PostHog/posthog-orbit-love-plugin',
    answers: {
      orbit: {
        data: {
          attributes: { workspace_id: '1', timeframe: {}, activities: {}, members: {}, orbit_levels: {} },
        },
      },
    },
  },
  {
    repo: 'PostHog/posthog-pagerduty-plugin',
    config: {
      posthogTrendUrl: 'https://posthog.example/insights/abc',
      threshold: '10',
      posthogHost: 'https://posthog.example',
    },
    answers: {
      insights: {
        results: [
          { filters: { insight: 'TRENDS' }, result: [{ label: 'a', data: [5], days: ['2026-11-01'] }] },
        ],
      },
    },
  },
  {
    repo: 'PostHog/posthog-patterns-app',
    config: { webhookUrl: 'https://hook.example/', allowedEventTypes: 'signed_up' },
  },
  { repo: 'PostHog/posthog-plugin-geoip' },
  {
    repo: 'PostHog/posthog-plugin-migrator3000',
    config: { host: 'posthog.example', startDate: '2020-01-01', posthogVersion: 'Latest' },
  },
  {
    repo: 'PostHog/posthog-plugin-replicator',
    config: { host: 'posthog.example', project_api_key: 'phc_x', replication: '1' },
  },
  {
    repo: 'PostHog/posthog-redshift-import-plugin',
    config: {
      clusterHost: 'a.redshift.amazonaws.com',
      tableName: 'to_import',
      orderByColumn: 'n',
      transformationName: 'default',
    },
    database: REDSHIFT,
  },
  { repo: 'PostHog/posthog-twilio-plugin', config: { triggeringEventsAndNumber: 'signed_up:+4912345' } },
  { repo: 'PostHog/posthog-url-normalizer-plugin' },
  { repo: 'PostHog/posthog-variance-plugin', config: { webhookUrl: 'https://hook.example/' } },
  {
    repo: 'PostHog/posthog-zendesk-plugin',
    config: { hostName: 'shop', triggeringEvents: 'signed_up' },
    answers: { tickets: { tickets: [] }, users: { users: [{ id: 1 }] } },
  },
  { repo: 'PostHog/property-filter-plugin', config: { properties: '$ip,email' } },
  {
    repo: 'PostHog/redshift-plugin',
    config: {
      clusterHost: 'a.redshift.amazonaws.com',
      tableName: 'sent_redshift',
      propertiesDataType: 'varchar',
    },
    database: REDSHIFT,
  },
  {
    repo: 'PostHog/s3-export-plugin',
    config: { awsRegion: 'eu-west-1', s3BucketName: 'pail', s3BucketEndpoint: '' },
  },
  {
    repo: 'PostHog/salesforce-plugin',
    config: {
      salesforceHost: 'https://shop.my.salesforce.com',
      eventsToInclude: 'signed_up',
      eventEndpointMapping: '',
      fieldMappings: '',
    },
    answers: { token: { access_token: 't', instance_url: 'https://shop.my.salesforce.com' } },
  },
  {
    repo: 'PostHog/schema-enforcer-plugin',
    attachments: {
      eventSchemaFile:
        '{"onlyIngestEventsFromFile":true,"eventSchemas":{"$pageview":{"acceptOnlySchemaProps":false,"schema":{}}}}',
    },
  },
  { repo: 'PostHog/semver-flattener-plugin', config: { properties: 'version' } },
  {
    repo: 'PostHog/sendgrid-plugin',
    config: { customFields: '' },
    answers: { field_definitions: { custom_fields: [] } },
  },
  {
    repo: 'PostHog/snowflake-export-plugin',
    config: { account: 'shop', stageToUse: 'S3', awsRegion: 'eu-west-1', bucketPath: '' },
    answers: {
      'login-request': { success: true, data: { token: 't' } },
      'query-request': { success: true, data: {} },
      '/session': { success: true, data: null },
    },
  },
  {
    repo: 'PostHog/stripe-plugin', // Left empty they are not there.
    config: { groupType: undefined, groupTypeIndex: undefined },
    answers: { invoices: { data: [] }, customers: { data: [] } },
  },
  { repo: 'PostHog/taxonomy-plugin', config: { defaultNamingConvention: 'camelCase' } },
  { repo: 'PostHog/timestamp-parser-plugin', are_times_numbers: true },
  { repo: 'PostHog/twitter-followers-plugin', answers: { followbutton: [{ followers_count: 7 }] } },
  { repo: 'PostHog/user-agent-plugin', config: { overrideUserAgentDetails: 'true' } },
  { repo: 'PostHog/user-interview-app' },
  {
    repo: 'Vinovest/posthog-salesforce',
    config: {
      salesforceHost: 'https://shop.my.salesforce.com',
      eventsToInclude: 'signed_up',
      eventEndpointMapping: '',
      fieldMappings: '',
    },
    answers: { token: { access_token: 't', instance_url: 'https://shop.my.salesforce.com' } },
  },
  { repo: 'andrewm4894/posthog-netdata-event-processing' },
  {
    repo: 'ava-labs/posthog-route-censor-plugin',
    built_with: [
      'rollup@3.7.0',
      'rollup-plugin-copy@3.4.0',
      '@rollup/plugin-node-resolve@15.0.1',
      '@rollup/plugin-typescript@9.0.2',
      'typescript@4.9.5',
      'tslib@2.4.1',
      '@types/node@18.14.0',
      '@posthog/plugin-scaffold@1.3.4',
      '@remix-run/router@1.5.0',
    ],
    attachments: { routes: '[{"path":"/:language/products","include":["language"]}]' },
  },
  {
    repo: 'benjackwhite/posthog-plugin-appfigures',
    config: { appfigures_start_date: '2026-11-01' },
    answers: { reviews: { reviews: [], pages: 0, total: 0 } },
  },
  {
    repo: 'intrepica/planhat-posthog-plugin',
    config: { eventWhitelist: 'signed_up,$pageview' },
    attachments: { userWhitelist: '', userBlacklist: '' },
  },
  { repo: 'laudspeaker/laudspeaker-posthog-plugin' },
  { repo: 'leggetter/posthog-plugin-rss-annotator', answers: { rss2json: { items: [] } } },
  { repo: 'leoMehlig/mongodb-plugin-posthog', config: { url: 'https://mongo.example/' } },
  { repo: 'octolane-org/octolane-posthog-app' },
  {
    repo: 'paolodamico/posthog-app-advanced-geoip',
    config: { discardIp: 'true', discardLibs: 'web' },
    properties: { $lib: 'web', $geoip_city_name: 'London' },
  },
  {
    repo: 'paolodamico/posthog-app-unduplicator',
    is_sent_twice: true,
  },
  {
    repo: 'rudderlabs/rudderstack-posthog-plugin',
    config: { dataPlaneUrl: 'https://rudder.example/', writeKey: 'key' },
  },
  {
    repo: 'vendasta/pubsub-plugin',
    config: { topicId: 'events' },
    attachments: { googleCloudKeyJson: GOOGLE },
  },
  { repo: 'visionect/posthog-plugin-snowplow-referer-parser', config: { internal_domains: 'shop.example' } },
]
