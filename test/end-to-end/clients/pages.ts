// Pages of a shop that uses posthog-js, each with another way to bring the library along.

/** What a page needs of the server. */
export type Server = { url: string; token: string }

const METHODS =
  'capture register identify alias group reset setPersonProperties captureException onFeatureFlags'

/**
 * What PostHog's snippet leaves in a page: an object that keeps calls until the library is there, and the script. The
 * library's place is an expression over the settings.
 */
const snippet = (source: string) => `
  (function (stub) {
    window.posthog = stub
    stub._i = []
    stub.people = []
    stub.init = function (token, config, name) {
      '${METHODS}'.split(' ').forEach(function (method) {
        stub[method] = function () { stub.push([method].concat([].slice.call(arguments))) }
      })
      var script = document.createElement('script')
      script.async = true
      script.crossOrigin = 'anonymous'
      script.src = ${source}
      document.head.appendChild(script)
      stub._i.push([token, config, name || 'posthog'])
    }
    stub.__SV = 1
  })(window.posthog || [])`

const page = (head: string) => `<!doctype html><title>Shop</title><meta charset="utf-8">
  <head>${head}</head>
  <h1>Shop</h1><button id="buy" class="big red">Buy now</button>`

function settings({ url }: Server, more: object = {}): string {
  return JSON.stringify({
    api_host: url,
    // Otherwise the library takes a browser that is driven for a robot, whose visits do not count.
    opt_out_useragent_filter: true,
    request_queue_config: { flush_interval_ms: 250 },
    ...more,
  })
}

const NOW_ON = {
  capture_exceptions: true,
  capture_performance: { web_vitals: true, web_vitals_delayed_flush_ms: 500 },
}

export const PAGES: Record<string, (server: Server) => string> = {
  /** As PostHog's documentation has it: the library and its parts come from the server. */
  snippet: (server) =>
    page(`<script>${snippet(`config.api_host + '/static/array.js'`)}
      posthog.init('${server.token}', ${settings(server, { defaults: '2026-01-30', ...NOW_ON })})
      posthog.register({ page: 'snippet' })
    </script>`),
  /** As a bundle from npm has it: the parts alone come from the server. */
  npm: (server) =>
    page(`<script type="module">
      import posthog from '/posthog-js/dist/module.js'
      window.posthog = posthog
      posthog.init('${server.token}', ${settings(server, { person_profiles: 'always', ...NOW_ON })})
      posthog.register({ page: 'npm' })
    </script>`),
  /** The first version there was. */
  '1.0.0': (server) =>
    page(`<script>${snippet(`'/posthog-js-1.0.0/dist/array.js'`)}
      posthog.init('${server.token}', ${settings(server)})
      posthog.register({ page: '1.0.0' })
    </script>`),
}
