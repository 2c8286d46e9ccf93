// The price chart as an element of any web page: `<price-chart card="…">`. The service serves this module as /price-chart.js.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import chartStyles from 'uplot/dist/uPlot.min.css?inline'
import type { PriceChart as ChartData } from '../client/src/api.ts'
import { Mintmark, MintmarkError } from '../client/src/index.ts'
import { ApiError } from './api.ts'
import { asApiError, type Loaded } from './data.ts'
import { PriceChart, useChartChoice } from './price-chart.tsx'
import pageStyles from './styles.css?inline'
import { LOCALES, type Locale, locale, nameMarkets, t } from './words.ts'

/**
 * Defines the element. Its attribute `card` is a search, of which the first result is shown; `label` is the condition or grade to start with.
 * @param service address of the service
 * @param apiKey of an account from the Professional plan on; sales are shown from the Plus plan on
 */
export function definePriceChart({ service, apiKey }: { service: string; apiKey: string }): void {
  const client = new Mintmark({ baseUrl: service, apiKey })
  const language = document.documentElement.lang.slice(0, 2)
  if (language in LOCALES) locale.value = language as Locale
  const styles = new CSSStyleSheet()
  styles.replaceSync(chartStyles + pageStyles)
  class PriceChartElement extends HTMLElement {
    connectedCallback() {
      const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
      root.adoptedStyleSheets = [styles]
      const label = this.getAttribute('label') ?? undefined
      render(<CardChart client={client} card={this.getAttribute('card') ?? ''} label={label} />, root)
    }

    disconnectedCallback() {
      render(null, this.shadowRoot!)
    }
  }
  customElements.define('price-chart', PriceChartElement)
}

interface CardChartProps {
  client: Mintmark
  card: string
  label: string | undefined
}

function CardChart({ client, card, label }: CardChartProps) {
  const choice = useChartChoice(label)
  const chart = useChart(client, card, choice.query)
  return <PriceChart of={chart} choice={choice} />
}

type Chosen = ReturnType<typeof useChartChoice>['query']

/** The chart of the first result; while another one loads, the previous one stays. */
function useChart(client: Mintmark, card: string, query: Chosen): Loaded<ChartData> {
  const [state, setState] = useState<Pick<Loaded<ChartData>, 'data' | 'error' | 'loading'>>({ data: null, error: null, loading: true })
  const [round, setRound] = useState(0)
  const queryText = JSON.stringify(query)
  // `queryText` represents the query; `round` repeats the request.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    let here = true
    setState((old) => ({ ...old, error: null, loading: true }))
    readChart(client, card, query).then(
      (data) => here && setState({ data, error: null, loading: false }),
      (error: unknown) => here && setState((old) => ({ ...old, error: apiErrorOf(error), loading: false })),
    )
    return () => {
      here = false
    }
  }, [client, card, queryText, round])
  return { ...state, pagination: null, reload: () => setRound(round + 1) }
}

async function readChart(client: Mintmark, card: string, query: Chosen): Promise<ChartData> {
  const [{ data: markets }, { data: found }] = await Promise.all([
    client.get('/api/v1/markets'),
    client.get('/api/v1/items/search', { params: { query: { q: card, per_page: 1 } } }),
  ])
  nameMarkets(Object.fromEntries(markets.filter(({ code, name }) => code !== name).map(({ code, name }) => [code, name])))
  if (!found[0]) throw new ApiError(404, { code: 'ITEM_NOT_FOUND', message: t('notThere') })
  const { data } = await client.get('/api/v1/items/{id}/price-chart', { params: { path: { id: found[0].id }, query } })
  return data
}

function apiErrorOf(error: unknown): ApiError {
  return error instanceof MintmarkError ? new ApiError(error.status, { code: error.code, message: error.message }) : asApiError(error)
}
