/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline as a picture: a row for each CPU with the tasks that ran there, below it the tasks
 * that waited for a CPU, and lines from who woke to whom. The data lies in the file as numbers; a
 * script draws what is in sight, so that a million stretches zoom and move.
 */
#include "analysis/sched.h"
#include "base/hash.h"

static void add_json(struct buf *out, const char *s)
{
	buf_addch(out, '"');
	for (; *s; s++) {
		u8 c = (u8)*s;

		if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
		    c >= 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addch(out, *s);
	}
	buf_addch(out, '"');
}

/* Tasks get small numbers; the colour is from the name. */
static void add_tasks(struct sched_map *m, struct map *numbers, struct buf *out)
{
	VEC(u32) tids = { 0 };

	vec_each(s, &m->stretches) {
		u64 *at = map_at(numbers, s->tid);

		if (*at)
			continue;
		vec_push(&tids, s->tid);
		*at = tids.len;
	}
	vec_each(w, &m->wakes) {
		u64 *at = map_at(numbers, w->waker);

		if (*at)
			continue;
		vec_push(&tids, w->waker);
		*at = tids.len;
	}
	buf_addstr(out, "\"tasks\":[");
	for (size_t i = 0; i < tids.len; i++) {
		const char *comm = sched_comm(m->names, tids.items[i]);

		buf_addf(out, "%s[%u,", i ? "," : "", tids.items[i]);
		add_json(out, comm);
		buf_addf(out, ",%u]", (u32)(hash_str(comm) % 360));
	}
	buf_addstr(out, "],\n");
	vec_release(&tids);
}

/* [begin, length, cpu, task, waits] as differences in microseconds' thousandths. */
static void add_stretches(struct sched_map *m, const struct map *numbers, struct buf *out)
{
	u64 base = m->names->first;
	bool first = true;

	buf_addstr(out, "\"stretches\":[");
	vec_each(s, &m->stretches) {
		if (s->end < s->begin || !sched_filter_task(m->filter, m->names, s->tid))
			continue;
		buf_addf(out, "%s%llu,%llu,%u,%llu,%d", first ? "" : ",",
			 (unsigned long long)(s->begin - base),
			 (unsigned long long)(s->end - s->begin), s->cpu,
			 (unsigned long long)map_get(numbers, s->tid, 1) - 1, s->waiting);
		first = false;
	}
	buf_addstr(out, "],\n\"wakes\":[");
	first = true;
	vec_each(w, &m->wakes) {
		buf_addf(out, "%s%llu,%u,%llu,%llu", first ? "" : ",",
			 (unsigned long long)(w->time - base), w->cpu,
			 (unsigned long long)map_get(numbers, w->waker, 1) - 1,
			 (unsigned long long)map_get(numbers, w->wakee, 1) - 1);
		first = false;
	}
	buf_addstr(out, "]");
}

static const char style[] = "text{font:12px Verdana,DejaVu Sans,sans-serif;fill:#222}"
			    ".bar{stroke:#fff;stroke-width:.5}.wait{fill:#f2c14e;opacity:.8}"
			    ".wake{stroke:#087;stroke-width:1;opacity:.5}"
			    ".lane{fill:#f4f4f4}.grid{stroke:#ddd}";

/* Draws into the group #g; binary search finds what is in sight, at most 8000 boxes at a time. */
static const char script[] =
	"const svg=document.getElementById('t'),g=document.getElementById('g'),"
	"info=document.getElementById('i');\n"
	"const NS='http://www.w3.org/2000/svg',L=110,ROW=34,TOP=60;\n"
	"const S=D.stretches,W=D.wakes,N=S.length/5;\n"
	"const order=[...Array(N).keys()].sort((a,b)=>S[a*5]-S[b*5]);\n"
	"let longest=0;for(let i=0;i<N;i++)longest=Math.max(longest,S[i*5+1]);\n"
	"let a=0,b=D.length,drag=null;\n"
	"const fmt=n=>n>=1e9?(n/1e9).toFixed(3)+'s':n>=1e6?(n/1e6).toFixed(3)+'ms':"
	"n>=1e3?(n/1e3).toFixed(2)+'us':n.toFixed(0)+'ns';\n"
	"function el(k,o,t){const e=document.createElementNS(NS,k);"
	"for(const x in o)e.setAttribute(x,o[x]);if(t!==undefined)e.textContent=t;g.append(e);"
	"return e}\n"
	"function width(){return Math.max(400,svg.clientWidth||1200)}\n"
	"function name(i){const t=D.tasks[i];return t[1]+' '+t[0]}\n"
	"function lower(t){let lo=0,hi=N;while(lo<hi){const m=lo+hi>>1;"
	"if(S[order[m]*5]<t)lo=m+1;else hi=m}return lo}\n"
	"function draw(){g.textContent='';const w=width()-L-10,k=w/(b-a);"
	"for(let c=0;c<D.cpus;c++){el('rect',{class:'lane',x:L,y:TOP+c*ROW,width:w,height:ROW-4});"
	"el('text',{x:10,y:TOP+c*ROW+14},'CPU '+c)}\n"
	"for(let i=0;i<=8;i++){const x=L+w*i/8;el('line',{class:'grid',x1:x,x2:x,y1:TOP-6,"
	"y2:TOP+D.cpus*ROW});el('text',{x:x,y:TOP-10,'text-anchor':i==8?'end':'start'},"
	"'+'+fmt(a+(b-a)*i/8))}\n"
	"let shown=0,last=new Float64Array(D.cpus*2).fill(-1);"
	"for(let j=lower(a-longest);j<N&&shown<8000;j++){const i=order[j]*5,t=S[i];if(t>b)break;"
	"const end=t+S[i+1];if(end<a)continue;const waits=S[i+4],c=S[i+2],"
	"x=L+Math.max(0,(t-a)*k),x2=L+Math.min(w,(end-a)*k),lane=c*2+waits;"
	"if(x2-last[lane]<.3)continue;last[lane]=x2;shown++;"
	"const y=TOP+c*ROW+(waits?21:0),h=waits?8:20,task=D.tasks[S[i+3]];"
	"const r=el('rect',{class:waits?'wait':'bar',x,y,width:Math.max(.3,x2-x),height:h});"
	"if(!waits)r.setAttribute('fill',`hsl(${task[2]},55%,68%)`);"
	"r.dataset.i=i;"
	"if(!waits&&x2-x>40)el('text',{x:x+3,y:y+14,'pointer-events':'none'},"
	"task[1].slice(0,(x2-x)/7|0))}\n"
	"let lines=0;for(let i=0;i<W.length&&lines<400;i+=4){if(W[i]<a)continue;if(W[i]>b)break;"
	"if((b-a)>5e7)break;const x=L+(W[i]-a)*k;const y=TOP+W[i+1]*ROW;"
	"el('line',{class:'wake',x1:x,x2:x,y1:y-3,y2:y+ROW-4}).dataset.w=i;lines++}\n"
	"info.textContent=fmt(b-a)+' of '+fmt(D.length)+(shown>=8000?', zoom in for more':'')}\n"
	"function at(e){const w=width()-L-10;return a+(b-a)*Math.min(1,Math.max(0,"
	"(e.clientX-svg.getBoundingClientRect().left-L)/w))}\n"
	"function zoom(t,f){const n=Math.min(D.length,Math.max(1000,(b-a)*f)),s=(t-a)/(b-a);"
	"a=t-n*s;b=a+n;if(a<0){b-=a;a=0}if(b>D.length){a=Math.max(0,a-(b-D.length));b=D.length}"
	"draw()}\n"
	"svg.addEventListener('wheel',e=>{e.preventDefault();zoom(at(e),e.deltaY<0?.7:1/.7)},"
	"{passive:false});\n"
	"svg.addEventListener('mousedown',e=>{drag=[e.clientX,a,b]});\n"
	"addEventListener('mouseup',()=>{drag=null});\n"
	"svg.addEventListener('mousemove',e=>{if(drag){const "
	"d=(drag[0]-e.clientX)*(drag[2]-drag[1])/"
	"(width()-L-10);a=Math.max(0,Math.min(D.length-(drag[2]-drag[1]),drag[1]+d));"
	"b=a+drag[2]-drag[1];draw();return}"
	"const t=e.target;if(t.dataset.i!==undefined){const i=+t.dataset.i;"
	"info.textContent=name(S[i+3])+(S[i+4]?' waits for CPU ':' runs on CPU ')+S[i+2]+', '+"
	"fmt(S[i+1])+' from +'+fmt(S[i])}"
	"else if(t.dataset.w!==undefined){const i=+t.dataset.w;info.textContent=name(W[i+2])+"
	"' wakes '+name(W[i+3])+' at +'+fmt(W[i])}});\n"
	"svg.addEventListener('dblclick',()=>{a=0;b=D.length;draw()});\n"
	"addEventListener('keydown',e=>{const m=(a+b)/2,s=(b-a)/5;"
	"if(e.key=='+'||e.key=='ArrowUp')zoom(m,.6);else if(e.key=='-'||e.key=='ArrowDown')"
	"zoom(m,1/.6);else if(e.key=='ArrowLeft'||e.key=='ArrowRight'){const d=e.key=='ArrowLeft'?"
	"Math.max(-s,-a):Math.min(s,D.length-b);a+=d;b+=d;draw()}else if(e.key=='Escape'){a=0;"
	"b=D.length;draw()}else return;e.preventDefault()});\n"
	"addEventListener('resize',draw);draw();\n";

/* Without scripts: the whole, as far as a stretch is wide enough to be seen. */
static void add_still(struct sched_map *m, struct buf *out)
{
	double k = 1080.0 / (double)MAX(m->names->last - m->names->first, 1ull);
	u32 shown = 0;

	for (u32 cpu = 0; cpu < m->names->cpus; cpu++)
		buf_addf(out, "<text x=\"10\" y=\"%u\">CPU %u</text>\n", 60 + cpu * 34 + 14, cpu);
	vec_each(s, &m->stretches) {
		double width = (double)(s->end - s->begin) * k;

		if (width < 0.5 || shown++ > 4000 || s->end < s->begin)
			continue;
		buf_addf(out,
			 "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
			 "fill=\"hsl(%u,55%%,68%%)\"/>\n",
			 s->waiting ? "wait" : "bar",
			 110 + (double)(s->begin - m->names->first) * k,
			 60 + s->cpu * 34 + (s->waiting ? 21 : 0), width, s->waiting ? 8 : 20,
			 (u32)(hash_str(sched_comm(m->names, s->tid)) % 360));
	}
}

static void add_data(struct sched_map *m, struct buf *out)
{
	_cleanup_map_ struct map numbers = MAP_INIT;

	buf_addf(out, "const D={\"cpus\":%u,\"length\":%llu,", m->names->cpus,
		 (unsigned long long)(m->names->last - m->names->first));
	add_tasks(m, &numbers, out);
	add_stretches(m, &numbers, out);
	buf_addstr(out, "};\n");
}

void sched_map_svg(struct sched_map *m, bool html, struct buf *out)
{
	u32 height = 60 + m->names->cpus * 34 + 30;

	if (html)
		buf_addf(out,
			 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			 "<title>Scheduler timeline</title><style>body{margin:0}svg{width:100%%}"
			 "</style></head><body>\n");
	else
		buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_addf(out,
		 "<svg id=\"t\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%u\" "
		 "role=\"img\" aria-label=\"who ran on which CPU\">\n<style>%s</style>\n"
		 "<text x=\"10\" y=\"20\" style=\"font-size:16px\">Scheduler timeline</text>\n"
		 "<text id=\"i\" x=\"260\" y=\"20\"></text>\n<g id=\"g\">\n",
		 html ? "100%" : "1200", height, style);
	add_still(m, out);
	buf_addf(out,
		 "</g>\n<text x=\"10\" y=\"%u\">wheel or + -: zoom; drag or arrows: move; double "
		 "click: all</text>\n<script>",
		 height - 8);
	if (!html)
		buf_addstr(out, "<![CDATA[\n");
	add_data(m, out);
	buf_addstr(out, script);
	buf_addstr(out, html ? "</script></svg></body></html>\n" : "]]></script></svg>\n");
}
