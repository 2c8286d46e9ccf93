// Shows results while the buyer types: replaces count and results by those that the server renders. Without it, the form works as usual.
const field = document.querySelector('#search input')
const count = document.querySelector('#count')
const PAUSE_MS = 150
let timer = 0
let running = new AbortController()

async function show() {
  running.abort()
  running = new AbortController()
  const address = `?${new URLSearchParams({ q: field.value })}`
  const answer = await fetch(`/results${address}`, { signal: running.signal })
  const next = document.createElement('template')
  next.innerHTML = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}`)
  count.textContent = next.content.querySelector('#count').textContent
  document.querySelector('#results').replaceWith(next.content.querySelector('#results'))
  document.querySelector('#latest')?.remove()
  history.replaceState(null, '', `/${address}`)
}

const failed = ({ name }) => name === 'AbortError' || (count.textContent = 'The search failed. Press Search to try again.')

field?.addEventListener('input', () => {
  clearTimeout(timer)
  timer = setTimeout(() => show().catch(failed), PAUSE_MS)
})
