// Behaviour of the pages of guides and reference: language tabs for code, copy buttons, and the search.

const create = (tag, properties) => Object.assign(document.createElement(tag), properties)
const LANGUAGE = 'mintmark-guide-language'
const remembered = localStorage.getItem(LANGUAGE)

/** Shows the tab of this language in every group that has one, and remembers the choice. */
function choose(language) {
  for (const group of document.querySelectorAll('.tabs')) show(group, language)
  localStorage.setItem(LANGUAGE, language)
}

function show(group, language) {
  const tabs = [...group.querySelectorAll('[role=tab]')]
  const chosen = tabs.find((tab) => tab.textContent === language)
  if (!chosen) return
  for (const tab of tabs) {
    tab.setAttribute('aria-selected', String(tab === chosen))
    tab.tabIndex = tab === chosen ? 0 : -1
    document.getElementById(tab.getAttribute('aria-controls')).hidden = tab !== chosen
  }
}

for (const [n, group] of document.querySelectorAll('.tabs').entries()) {
  const list = create('div', { role: 'tablist', ariaLabel: 'Language' })
  const tabs = [...group.querySelectorAll('figure')].map((figure, i) => {
    const tab = create('button', { type: 'button', role: 'tab', id: `tab-${n}-${i}`, textContent: figure.querySelector('figcaption').textContent })
    figure.id = `code-${n}-${i}`
    figure.role = 'tabpanel'
    figure.setAttribute('aria-labelledby', tab.id)
    tab.setAttribute('aria-controls', figure.id)
    tab.addEventListener('click', () => choose(tab.textContent))
    return tab
  })
  list.append(...tabs)
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined) return
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]
    choose(next.textContent)
    next.focus()
  })
  group.prepend(list)
  group.classList.add('chosen')
  show(group, tabs[0].textContent)
}
if (remembered) choose(remembered)

for (const figure of document.querySelectorAll('figure.code')) {
  const button = create('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent)
    button.textContent = 'Copied'
  })
  figure.append(button)
}

const form = document.querySelector('form[role=search]')
const input = document.getElementById('search')
const found = document.getElementById('found')
const article = document.querySelector('article')
const MAX_RESULTS = 20
let sections = null
form.hidden = false
form.addEventListener('submit', (event) => event.preventDefault())
input.addEventListener('input', async () => {
  sections ??= fetch('/docs/guides/search.json').then((response) => response.json())
  const all = await sections
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  found.hidden = words.length === 0
  article.hidden = words.length > 0
  if (words.length === 0) return
  const rank = ({ guide, heading, text }) => {
    const [top, whole] = [heading.toLowerCase(), `${guide} ${heading} ${text}`.toLowerCase()]
    if (!words.every((word) => whole.includes(word))) return 0
    return words.every((word) => top.includes(word)) ? 2 : 1
  }
  const ranked = all.map((section) => ({ section, rank: rank(section) })).filter((each) => each.rank > 0)
  ranked.sort((one, other) => other.rank - one.rank)
  const list = create('ul')
  for (const { section } of ranked.slice(0, MAX_RESULTS)) {
    const entry = create('li')
    const link = create('a', { href: section.path, textContent: section.heading })
    // The section may be on the current page.
    link.addEventListener('click', () => {
      input.value = ''
      found.hidden = true
      article.hidden = false
    })
    entry.append(link, create('span', { textContent: ` ${section.guide}` }))
    list.append(entry)
  }
  found.replaceChildren(create('p', { textContent: ranked.length === 0 ? 'Nothing found' : `${ranked.length} found` }), list)
})

// Links to operations as earlier releases wrote them: /docs#/Catalogue/listItems
const [, operation] = /^#\/[^/]+\/(\w+)$/.exec(location.hash) ?? []
const link = operation && document.querySelector(`article a[href$="#${operation}"]`)
if (link) location.replace(link.href)
