// How to send the first event with each client library, with the address and the token of the project filled in.

export type Snippet = {
  id: string
  name: string
  /** What to put in, and where. */
  steps: readonly { title: string; code: string }[]
  /** What happens once it runs. */
  outcome: string
}

export type Place = { host: string; token: string }

const EVENT = 'first event'
const ANY_LANGUAGE = `Run it: it sends an event named “${EVENT}”.`

export function snippets({ host, token }: Place): readonly Snippet[] {
  return [
    {
      id: 'web',
      name: 'Web page',
      steps: [{ title: 'In the head of every page', code: webSnippet(host, token) }],
      outcome: 'Open a page that has it: it sends page views and clicks by itself.',
    },
    {
      id: 'node',
      name: 'Node',
      steps: [
        { title: 'In a terminal', code: 'npm install posthog-node' },
        {
          title: 'In your code',
          code: `import { PostHog } from 'posthog-node'

const posthog = new PostHog('${token}', { host: '${host}' })

posthog.capture({ distinctId: 'ada', event: '${EVENT}' })
await posthog.shutdown()`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'python',
      name: 'Python',
      steps: [
        { title: 'In a terminal', code: 'pip install posthog' },
        {
          title: 'In your code',
          code: `from posthog import Posthog

posthog = Posthog('${token}', host='${host}')

posthog.capture('${EVENT}', distinct_id='ada')
posthog.shutdown()`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'go',
      name: 'Go',
      steps: [
        { title: 'In a terminal', code: 'go get github.com/posthog/posthog-go' },
        {
          title: 'In your code',
          code: `package main

import "github.com/posthog/posthog-go"

func main() {
	client, _ := posthog.NewWithConfig("${token}", posthog.Config{Endpoint: "${host}"})
	defer client.Close()

	client.Enqueue(posthog.Capture{DistinctId: "ada", Event: "${EVENT}"})
}`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'ruby',
      name: 'Ruby',
      steps: [
        { title: 'In a terminal', code: 'gem install posthog-ruby' },
        {
          title: 'In your code',
          code: `require 'posthog'

posthog = PostHog::Client.new({ api_key: '${token}', host: '${host}' })

posthog.capture({ distinct_id: 'ada', event: '${EVENT}' })
posthog.shutdown`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'php',
      name: 'PHP',
      steps: [
        { title: 'In a terminal', code: 'composer require posthog/posthog-php' },
        {
          title: 'In your code',
          code: `<?php
require 'vendor/autoload.php';

PostHog\\PostHog::init('${token}', ['host' => '${host}']);

PostHog\\PostHog::capture(['distinctId' => 'ada', 'event' => '${EVENT}']);
PostHog\\PostHog::flush();`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'java',
      name: 'Java',
      steps: [
        { title: 'In build.gradle', code: "implementation 'com.posthog:posthog-server:2.+'" },
        {
          title: 'In your code',
          code: `import com.posthog.server.PostHog;
import com.posthog.server.PostHogConfig;
import com.posthog.server.PostHogInterface;

class Sample {
  public static void main(String[] args) {
    PostHogConfig config = PostHogConfig.builder("${token}").host("${host}").build();
    PostHogInterface posthog = PostHog.with(config);

    posthog.capture("ada", "${EVENT}");
    posthog.flush();
    posthog.close();
  }
}`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'dotnet',
      name: '.NET',
      steps: [
        { title: 'In a terminal', code: 'dotnet add package PostHog' },
        {
          title: 'In your code',
          code: `using PostHog;

await using var posthog = new PostHogClient(new PostHogOptions
{
    ProjectApiKey = "${token}",
    HostUrl = new Uri("${host}"),
});

posthog.Capture("ada", "${EVENT}");
await posthog.FlushAsync();`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
    {
      id: 'ios',
      name: 'iOS',
      steps: [
        { title: 'In Xcode, as a package', code: 'https://github.com/PostHog/posthog-ios.git' },
        {
          title: 'In your AppDelegate',
          code: `import PostHog

let config = PostHogConfig(apiKey: "${token}", host: "${host}")
PostHogSDK.shared.setup(config)

PostHogSDK.shared.capture("${EVENT}")`,
        },
      ],
      outcome: 'Start the app: it sends its own beginning as well.',
    },
    {
      id: 'android',
      name: 'Android',
      steps: [
        { title: 'In app/build.gradle.kts', code: 'implementation("com.posthog:posthog-android:3.+")' },
        {
          title: 'In your Application',
          code: `import com.posthog.PostHog
import com.posthog.android.PostHogAndroid
import com.posthog.android.PostHogAndroidConfig

val config = PostHogAndroidConfig(apiKey = "${token}", host = "${host}")
PostHogAndroid.setup(this, config)

PostHog.capture(event = "${EVENT}")`,
        },
      ],
      outcome: 'Start the app: it sends its own beginning as well.',
    },
    {
      id: 'flutter',
      name: 'Flutter',
      steps: [
        { title: 'In a terminal', code: 'flutter pub add posthog_flutter' },
        {
          title: 'In AndroidManifest.xml and Info.plist, so that it does not start by itself',
          code: `<meta-data android:name="com.posthog.posthog.AUTO_INIT" android:value="false" />

<key>com.posthog.posthog.AUTO_INIT</key><false/>`,
        },
        {
          title: 'In main.dart',
          code: `import 'package:flutter/material.dart';
import 'package:posthog_flutter/posthog_flutter.dart';

Future<void> main() async {
  WidgetsFlutterBinding.ensureInitialized();
  final config = PostHogConfig('${token}')..host = '${host}';
  await Posthog().setup(config);

  await Posthog().capture(eventName: '${EVENT}');
  runApp(const MyApp());
}`,
        },
      ],
      outcome: 'Start the app: the event is sent within half a minute.',
    },
    {
      id: 'react-native',
      name: 'React Native',
      steps: [
        {
          title: 'In a terminal',
          code: 'npx expo install posthog-react-native expo-file-system expo-application expo-device expo-localization',
        },
        {
          title: 'In your app',
          code: `import { PostHogProvider } from 'posthog-react-native'

export function App() {
  return (
    <PostHogProvider apiKey="${token}" options={{ host: '${host}' }}>
      <RestOfTheApp />
    </PostHogProvider>
  )
}`,
        },
      ],
      outcome: 'Start the app: it sends screens and touches by itself.',
    },
    {
      id: 'curl',
      name: 'curl',
      steps: [
        {
          title: 'In a terminal',
          code: `curl '${host}/i/v0/e/' \\
  -H 'Content-Type: application/json' \\
  -d '{"api_key": "${token}", "distinct_id": "ada", "event": "${EVENT}"}'`,
        },
      ],
      outcome: ANY_LANGUAGE,
    },
  ]
}

/** Keeps calls until the library is there, and loads it from this server: what PostHog's own snippet does. */
const STUB = [
  '!function(e){window.posthog=e,e._i=[],e.people=[],e.__SV=1,e.init=function(t,c,n){',
  '"capture register identify alias group reset setPersonProperties captureException onFeatureFlags".split(" ")',
  '.forEach(function(m){e[m]=function(){e.push([m].concat([].slice.call(arguments)))}});',
  'var s=document.createElement("script");s.async=!0,s.crossOrigin="anonymous",',
  's.src=c.api_host+"/static/array.js",document.head.appendChild(s),e._i.push([t,c,n||"posthog"])}}(window.posthog||[]);',
].join('')

const webSnippet = (host: string, token: string) => `<script>
  ${STUB}
  posthog.init('${token}', {
    api_host: '${host}',
    defaults: '2026-01-30',
  })
</script>`
