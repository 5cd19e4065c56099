import sys,os,time,itertools; sys.path[:0]=['/tmp/w/encoders/src','/tmp/w/encoders']
os.environ['DOWSE_HOME']='/tmp/train/home'
from pathlib import Path
import numpy as np
from bench import quality
from dowse.searching import constants
from dowse.searching.candidates import gather, Scope, Balance
from dowse.searching.query import parse
from dowse.searching.ranking import leg_scores,promising,rank
from dowse.encoding.static import StaticEncoder
import statistics, pickle
enc=StaticEncoder(Path('/tmp/train/v1'),'static-1')
Q=quality.code_search(Path('/work/shared/eval/code-search'))
names=sorted({q.corpus for q in Q})
stores={}
for n in names:
    p=quality.opened(Path('/tmp/cs')/n); s=p.store; stores[n]=s
    if not s.noted('static'):
        t=time.time(); rows=[];texts=[]
        for d in s.documents():
            try: data,_=p.source.read_bytes(d.path)
            except Exception: continue
            data=data[d.text_start:] if d.is_verbatim else (s.converted_text(d.id) or '').encode()
            for c in s.chunks(d.id):
                rows.append(c.id); texts.append(f"{d.path}\n{data[c.start_byte:c.end_byte].decode(errors='replace')}")
        t1=time.time(); V=enc.encode(texts); t2=time.time()
        s.put_vectors(enc.version,list(zip(rows,V))); s.note('static','1')
        print(n,len(rows),round(len(rows)/(t2-t1)),'chunks/s',flush=True)
def run(weights,balance=None):
    by={};cat={}
    with quality.changed({'VECTOR_WEIGHT':weights}):
        for q in Q:
            s=stores[q.corpus]
            e=gather(s,parse(q.text),Scope(),enc,balance)
            if e is None: v=0
            else:
                sc=leg_scores(e.legs); d=s.documents_by_id(promising(e,sc,constants.RANKED_FILES))
                f=rank(e,sc,{k:x.path for k,x in d.items()})
                v=quality.ndcg([d[x.document_id].path for x in f[:10]],q.answers)
            by.setdefault(q.corpus,[]).append(v);cat.setdefault(q.category,[]).append(v)
    return round(statistics.mean(statistics.mean(v) for v in by.values()),4),{k:round(statistics.mean(v),3) for k,v in cat.items()}
print('lexical',quality.score(Q,stores))
for p in (0.5,0.8,1.0,1.3,1.6):
    for sy in (0.1,0.3):
        print(p,sy,run({'symbol':sy,'path':0.3,'prose':p}),flush=True)
print('dense alone',run({'symbol':1,'path':1,'prose':1.0},Balance('vector')))
