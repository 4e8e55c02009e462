window.trustedTypes?.createPolicy("default", { createHTML: (h) => /<script/i.test(h) ? "" : h });
