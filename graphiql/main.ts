// GraphiQL on our own endpoint: a header editor for the key, and the schema loaded again once a key is there.
import 'graphiql/setup-workers/vite'
import 'graphiql/style.css'
import './page.css'
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { createGraphiQLFetcher } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import { createElement, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { EXAMPLES, KEY_HEADER } from './examples.ts'

const fetcher = createGraphiQLFetcher({ url: '/graphql' })

/** Wait after the last keystroke in the headers. */
const SETTLED_MS = 600

/** Loads the schema when the headers hold another key than before, and says where the key goes until it is loaded. */
function KeyHint() {
  const actions = useGraphiQLActions()
  const schema = useGraphiQL((state) => state.schema)
  const headers = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.headers)
  useEffect(() => {
    if (schema || !headers || headers === KEY_HEADER || !isJson(headers)) return
    const settled = setTimeout(() => void actions.introspect(), SETTLED_MS)
    return () => clearTimeout(settled)
  }, [schema, headers, actions])
  if (schema) return null
  return createElement('p', { className: 'key-hint' }, 'Put your API key into Headers, in place of <your API key>, to load the schema and run queries.')
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
      defaultTabs: EXAMPLES.map(({ query, variables = null }) => ({ query, variables, headers: KEY_HEADER })),
      defaultHeaders: KEY_HEADER,
      defaultEditorToolsVisibility: 'headers',
      // A key stays on the machine only where its owner asks for it.
      shouldPersistHeaders: false,
      showPersistHeadersSettings: true,
    },
    createElement(GraphiQL.Footer, null, createElement(KeyHint)),
  ),
)
