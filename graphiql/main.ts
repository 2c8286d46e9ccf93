// GraphiQL for our own endpoint: once an API key is entered into the headers (the demo's key is preset), the schema is loaded and every tab uses the
// key.
import 'graphiql/setup-workers/vite'
import 'graphiql/style.css'
import './page.css'
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import { createElement, useEffect, useRef } from 'react'
import { createRoot } from 'react-dom/client'
import { EXAMPLES, KEY_HEADER } from './examples.ts'

/** The demo's API key, if the page contains one (src/graphql/graphiql.ts). */
const demoKey = document.querySelector<HTMLMetaElement>('meta[name="mintmark-demo-key"]')?.content
const headersAtFirst = demoKey ? JSON.stringify({ Authorization: `Bearer ${demoKey}` }, null, 2) : KEY_HEADER

const send = createGraphiQLFetcher({ url: '/graphql' })

/** Without a key, the schema is not requested: the page would otherwise open with an error. */
const fetcher: Fetcher = (params, options) => {
  const isAllowed = params.operationName !== 'IntrospectionQuery' || 'Authorization' in (options?.headers ?? {})
  return isAllowed ? send(params, options) : new Promise(() => {})
}

/** Delay after the last keystroke in the headers. */
const SETTLED_MS = 600

/** Loads the schema once the headers contain a key and copies the key to the other tabs; shows a hint until then. */
function KeyHint() {
  const actions = useGraphiQLActions()
  const schema = useGraphiQL((state) => state.schema)
  const editor = useGraphiQL((state) => state.headerEditor)
  const headers = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.headers)
  const entered = useRef<string | null>(null)
  useEffect(() => {
    if (headers === KEY_HEADER && entered.current) editor?.setValue(entered.current)
    else if (headers && headers !== KEY_HEADER && isJson(headers)) entered.current = headers
  }, [editor, headers])
  useEffect(() => {
    if (schema || !headers || headers === KEY_HEADER || !isJson(headers)) return
    const settled = setTimeout(() => void actions.introspect(), SETTLED_MS)
    return () => clearTimeout(settled)
  }, [schema, headers, actions])
  if (schema || demoKey) return null
  return createElement(
    'p',
    { className: 'key-hint' },
    'Put your API key into Headers, in place of <your API key>, to load the schema and run queries.',
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

createRoot(document.getElementById('graphiql')!).render(
  createElement(
    GraphiQL,
    {
      fetcher,
      defaultTabs: EXAMPLES.map(({ query, variables = null }) => ({ query, variables, headers: headersAtFirst })),
      defaultHeaders: headersAtFirst,
      defaultEditorToolsVisibility: 'headers',
      // The key is stored in the browser only if its owner chooses so.
      shouldPersistHeaders: false,
      showPersistHeadersSettings: true,
    },
    createElement(GraphiQL.Footer, null, createElement(KeyHint)),
  ),
)
