// Every text in sight whose contrast with what is behind it is below AA. Of a gradient the worst colour counts.
() => {
  const parse = (text) =>
    [...text.matchAll(/rgba?\(([^)]+)\)/g)].map(([, inner]) => {
      const [red, green, blue, alpha = 1] = inner.split(/[ ,/]+/).filter(Boolean).map(Number);
      return { red, green, blue, alpha };
    });
  const over = (top, below) => {
    const mix = (part) => top[part] * top.alpha + below[part] * (1 - top.alpha);
    return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
  };
  const luminance = ({ red, green, blue }) => {
    const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  // The colours behind an element, which may be several.
  const behind = (element) => {
    const style = getComputedStyle(element);
    const [own] = parse(style.backgroundColor);
    const below = own.alpha < 1 && element.parentElement ? behind(element.parentElement) : [own];
    const plain = below.map((colour) => over(own, colour));
    const stripes = parse(style.backgroundImage).filter((colour) => colour.alpha > 0);
    return [...plain, ...stripes.flatMap((stripe) => plain.map((colour) => over(stripe, colour)))];
  };
  const drawnBehind = (text) => {
    const middle = (box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
    const { x, y } = middle(text.getBBox());
    const around = [...text.ownerSVGElement.querySelectorAll("rect")].filter((rect) => {
      const box = rect.getBBox();
      return box.x <= x && x <= box.x + box.width && box.y <= y && y <= box.y + box.height;
    });
    return around.length ? parse(getComputedStyle(around.at(-1)).fill) : behind(text.ownerSVGElement.parentElement);
  };

  const faint = [];
  for (const element of document.body.querySelectorAll("*")) {
    const text = [...element.childNodes].map((node) => (node.nodeType === 3 ? node.data.trim() : "")).join("");
    const isSeen = element.checkVisibility() && element.getBoundingClientRect().width > 1;
    if (!text || !isSeen || element.closest("option")) continue;
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGTextElement;
    const [colour] = parse(drawn ? style.fill : style.color);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const backgrounds = drawn ? drawnBehind(element) : behind(element);
    const least = Math.min(...backgrounds.map((background) => contrast(over(colour, background), background)));
    if (least < (isLarge ? 3 : 4.5)) {
      faint.push(`${element.tagName}.${element.getAttribute("class")} "${text.slice(0, 40)}": ${least.toFixed(2)}`);
    }
  }
  return faint;
}
