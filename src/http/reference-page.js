// Makes Swagger UI usable by keyboard and screen reader; loaded before it starts.

const original = window.SwaggerUIBundle

// The link to an operation is inside the button that opens it. Opening the operation sets the same address as the location.
const plainDeepLinks = () => ({
  wrapComponents: {
    DeepLink:
      (_Original, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
  },
})

const start = (config) => original({ ...config, plugins: [...config.plugins, plainDeepLinks] })
window.SwaggerUIBundle = Object.assign(start, original)

/** Labels for choices that have none. */
function nameOf(select) {
  if (select.id === 'servers') return 'Server'
  if (select.closest('.examples-select')) return 'Example'
  return select.closest('[data-param-name]')?.getAttribute('data-param-name') ?? 'Media type'
}

function addNames() {
  for (const select of document.querySelectorAll('select:not([aria-label])')) select.setAttribute('aria-label', nameOf(select))
  for (const button of document.querySelectorAll('.close-modal:not([aria-label])')) button.setAttribute('aria-label', 'Close')
  for (const dialog of document.querySelectorAll('.modal-ux:not([role])')) {
    dialog.setAttribute('role', 'dialog')
    dialog.setAttribute('aria-modal', 'true')
    dialog.setAttribute('aria-label', 'Authorization')
  }
  // Long responses scroll, also with the keyboard.
  for (const text of document.querySelectorAll('#swagger-ui pre:not([tabindex])')) text.setAttribute('tabindex', '0')
}

new MutationObserver(addNames).observe(document.documentElement, { childList: true, subtree: true })
